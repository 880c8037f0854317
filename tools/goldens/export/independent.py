"""Independent re-implementation of GLM-OCR (no transformers code), in any float type, with switchable mistakes.

Used for two things: the float64 run that justifies the tolerances, and the mutation check (which mistake does a golden catch?).
`MUTATIONS` lists the mistakes that can be switched on."""
import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F

from .snapshots import load_weights

MUTATIONS = {
    "text_rope_half_split": "text rotary pairs (d, d+half) instead of (2d, 2d+1)",
    "vision_rope_adjacent": "vision rotary pairs (2d, 2d+1) instead of (d, d+half)",
    "post_norm_after_add": "post_* norms applied to the sum instead of to the branch",
    "tanh_gelu": "tanh approximation of GELU in the merger",
    "merger_no_act": "no activation after the merger's LayerNorm",
    "merger_eps_from_config": "merger LayerNorm epsilon taken from the vision rms_norm_eps instead of 1e-5",
    "merger_rmsnorm": "RMS normalisation instead of LayerNorm in the merger",
    "text_gate_up_swapped": "gate and up halves exchanged in the text MLP",
    "vision_gate_up_swapped": "gate and up exchanged in the vision MLP",
    "eh_proj_swapped": "hidden half first in the MTP input",
    "one_d_positions": "1-D positions: T=H=W=index",
    "mrope_sections_interleaved": "sections assigned d%3 instead of contiguous ranges",
    "raster_patches": "patches in raster order instead of merge-block order",
    "no_vision_rope": "no rotary in the vision tower",
    "vision_rope_before_norm": "rotary before the q/k norm",
    "no_qk_norm": "vision q/k norm left out",
    "downsample_transposed": "2x2 block order (dx, dy) in the downsample",
    "bidirectional_image": "image tokens attend to each other without causal mask",
    "cross_image_attention": "vision attention across images",
    "decode_position_is_index": "generated tokens use the cache index as rope position",
    "mtp_chain_position_is_index": "draft steps use the cache index as rope position",
    "mtp_pre_norm_hidden": "MTP gets the hidden before the final norm",
    "kv_head_modulo": "query head j reads kv head j % n instead of j // group",
    "vision_eps_1e-6": "vision RMSNorm epsilon 1e-6",
    "text_eps_1e-6": "text RMSNorm epsilon 1e-6",
    "scale_from_hidden": "attention scale from hidden/heads instead of head_dim",
    "patch_t_before_c": "patch weight flattened (time, channel, y, x) instead of (channel, time, y, x)",
    "mtp_unshifted_tokens": "MTP slot i gets token i instead of token i+1",
    "mtp_no_prefill": "MTP cache empty at the first draft",
    "bf16_rope": "text cos/sin rounded to bfloat16",
    "copies_used": "MTP uses its stored embedding and head copies",
}


class Net:
    """One snapshot in float type `dtype` with a set of mutations."""

    def __init__(self, folder, dtype=torch.float64, mutations=()):
        folder = Path(folder)
        self.c = json.loads((folder / "config.json").read_text())
        self.t, self.v = self.c["text_config"], self.c["vision_config"]
        self.w = {k: x.to(dtype) for k, x in load_weights(folder).items()}
        self.dtype, self.m = dtype, frozenset(mutations)
        unknown = self.m - set(MUTATIONS)
        if unknown:
            raise ValueError(f"unknown mutation {unknown}")

    def lin(self, x, name):
        y = x @ self.w[name + ".weight"].T
        b = self.w.get(name + ".bias")
        return y if b is None else y + b

    def rms(self, x, name, vision=False):
        c = self.v if vision else self.t
        eps = c["rms_norm_eps"]
        if ("vision_eps_1e-6" if vision else "text_eps_1e-6") in self.m:
            eps = 1e-6
        return self.w[name + ".weight"] * (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps))

    # ---- vision -------------------------------------------------------------------------------------------------
    def vision(self, pixel_values, grids):
        """pixel_values [P,1176], grids list of (1,gh,gw) -> dict of stages."""
        p, v = "model.visual", self.v
        x = pixel_values.to(self.dtype)
        if "raster_patches" in self.m:
            x = torch.cat([part[self.block_to_raster(g)] for part, g in zip(x.split([a * b * c for a, b, c in grids]), grids)])
        w = self.w[f"{p}.patch_embed.proj.weight"]
        w = (w.transpose(1, 2) if "patch_t_before_c" in self.m else w).reshape(v["hidden_size"], -1)
        x = x @ w.T + self.w[f"{p}.patch_embed.proj.bias"]
        out = {"patch_embed": x, "blocks": []}
        heads, hd = v["num_heads"], v["hidden_size"] // v["num_heads"]
        pos = torch.cat([self.patch_positions(g) for g in grids])
        theta = (v.get("rope_parameters") or {}).get("rope_theta", 10000.0)
        f = theta ** (-torch.arange(0, hd // 2, 2, dtype=self.dtype) / (hd // 2))
        ang = torch.cat([pos[:, :1] * f, pos[:, 1:] * f], -1)
        cos, sin = ang.cos()[:, None], ang.sin()[:, None]

        def rope(q):
            if "no_vision_rope" in self.m:
                return q
            if "vision_rope_adjacent" in self.m:
                a, b = q[..., 0::2], q[..., 1::2]
                return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
            a, b = q.chunk(2, -1)
            return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

        sizes = [a * b * c for a, b, c in grids]
        if "cross_image_attention" in self.m:
            sizes = [sum(sizes)]
        for i in range(v["depth"]):
            b = f"{p}.blocks.{i}"
            q, k, val = self.lin(self.rms(x, f"{b}.norm1", True), f"{b}.attn.qkv").reshape(-1, 3, heads, hd).unbind(1)
            norm = (lambda y, n: y) if "no_qk_norm" in self.m else (lambda y, n: self.rms(y, f"{b}.attn.{n}", True))
            if "vision_rope_before_norm" in self.m:
                q, k = norm(rope(q), "q_norm"), norm(rope(k), "k_norm")
            else:
                q, k = rope(norm(q, "q_norm")), rope(norm(k, "k_norm"))
            o = []
            for qq, kk, vv in zip(q.split(sizes), k.split(sizes), val.split(sizes)):
                s = torch.einsum("qhd,khd->hqk", qq, kk) / math.sqrt(hd)
                o.append(torch.einsum("hqk,khd->qhd", s.softmax(-1), vv))
            x = x + self.lin(torch.cat(o).reshape(len(x), -1), f"{b}.attn.proj")
            h = self.rms(x, f"{b}.norm2", True)
            gate, up = self.lin(h, f"{b}.mlp.gate_proj"), self.lin(h, f"{b}.mlp.up_proj")
            if "vision_gate_up_swapped" in self.m:
                gate, up = up, gate
            x = x + self.lin(F.silu(gate) * up, f"{b}.mlp.down_proj")
            out["blocks"].append(x)
        x = self.rms(x, f"{p}.post_layernorm", True)
        out["post_layernorm"] = x
        d = self.w[f"{p}.downsample.weight"]
        if "downsample_transposed" in self.m:
            d = d.transpose(2, 3)
        d = d.permute(0, 2, 3, 1).reshape(d.shape[0], -1)
        x = x.reshape(-1, 4 * x.shape[-1]) @ d.T + self.w[f"{p}.downsample.bias"]
        out["downsample"] = x
        m = f"{p}.merger"
        z = self.lin(x, f"{m}.proj")
        if "merger_rmsnorm" in self.m:
            z = z * torch.rsqrt((z * z).mean(-1, keepdim=True) + 1e-5)
        else:
            mu = z.mean(-1, keepdim=True)
            eps = v["rms_norm_eps"] if "merger_eps_from_config" in self.m else 1e-5
            z = (z - mu) * torch.rsqrt(((z - mu) ** 2).mean(-1, keepdim=True) + eps)
        z = z * self.w[f"{m}.post_projection_norm.weight"] + self.w[f"{m}.post_projection_norm.bias"]
        if "merger_no_act" not in self.m:
            z = F.gelu(z, approximate="tanh" if "tanh_gelu" in self.m else "none")
        out["merged"] = self.lin(F.silu(self.lin(z, f"{m}.gate_proj")) * self.lin(z, f"{m}.up_proj"), f"{m}.down_proj")
        return out

    @staticmethod
    def patch_positions(grid):
        """(row, col) of every patch in merge-block order."""
        _, gh, gw = grid
        return torch.tensor([[2 * br + dy, 2 * bc + dx] for br in range(gh // 2) for bc in range(gw // 2)
                             for dy in (0, 1) for dx in (0, 1)])

    @classmethod
    def block_to_raster(cls, grid):
        """Permutation that puts merge-block ordered rows into raster order."""
        pos = cls.patch_positions(grid)
        return torch.argsort(pos[:, 0] * grid[2] + pos[:, 1])

    # ---- text ---------------------------------------------------------------------------------------------------
    def positions(self, ids, grids):
        """3-D positions [3,L] and rope delta."""
        img, cur, i, out, g = self.c["image_token_id"], 0, 0, [], iter(grids)
        while i < len(ids):
            if ids[i] != img:
                out.append([cur] * 3)
                cur, i = cur + 1, i + 1
                continue
            _, gh, gw = next(g)
            gh, gw = gh // 2, gw // 2
            out += [[cur, cur + r, cur + c] for r in range(gh) for c in range(gw)]
            i, cur = i + gh * gw, cur + max(gh, gw)
        pos = torch.tensor(out).T
        if "one_d_positions" in self.m:
            pos = torch.arange(len(ids)).expand(3, -1)
        return pos, int(pos.max()) + 1 - len(ids)

    def embed(self, ids, vis=None):
        """Token rows with the image rows overwritten."""
        x = self.w["model.language_model.embed_tokens.weight"][torch.tensor(ids)].clone()
        if vis is not None:
            x[torch.tensor(ids) == self.c["image_token_id"]] = vis
        return x

    def head(self, h):
        w = self.w.get("lm_head.weight")
        return h @ (self.w["model.language_model.embed_tokens.weight"] if w is None else w).T

    def rotary(self, pos):
        """[T, head_dim/2] cos and sin for 3-D positions [3,T]."""
        r = self.t["rope_parameters"]
        half = self.t["head_dim"] // 2
        f = r["rope_theta"] ** (-torch.arange(half, dtype=self.dtype) * 2 / self.t["head_dim"])
        if "mrope_sections_interleaved" in self.m:
            axis = torch.arange(half) % 3
        else:
            axis = torch.repeat_interleave(torch.arange(3), torch.tensor(r["mrope_section"]))
        ang = pos.to(self.dtype)[axis].T * f
        cos, sin = ang.cos(), ang.sin()
        if "bf16_rope" in self.m:
            cos, sin = cos.bfloat16().to(self.dtype), sin.bfloat16().to(self.dtype)
        return cos, sin

    def layer(self, x, i, pos, cache, image_mask=None):
        """Decoder layer i on rows x [T,D]; `cache` is a list [k, v] that grows."""
        p, t = f"model.language_model.layers.{i}", self.t
        nq, nkv, hd = t["num_attention_heads"], t["num_key_value_heads"], t["head_dim"]
        a = self.rms(x, f"{p}.input_layernorm")
        q = self.lin(a, f"{p}.self_attn.q_proj").reshape(-1, nq, hd)
        k = self.lin(a, f"{p}.self_attn.k_proj").reshape(-1, nkv, hd)
        v = self.lin(a, f"{p}.self_attn.v_proj").reshape(-1, nkv, hd)
        cos, sin = (y[:, None] for y in self.rotary(pos))

        def rope(y):
            if "text_rope_half_split" in self.m:
                a, b = y.chunk(2, -1)
                return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
            a, b = y[..., 0::2], y[..., 1::2]
            return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)

        q, k = rope(q), rope(k)
        cache[0] = k if cache[0] is None else torch.cat([cache[0], k])
        cache[1] = v if cache[1] is None else torch.cat([cache[1], v])
        k, v = cache
        if "kv_head_modulo" in self.m:
            k, v = k.repeat(1, nq // nkv, 1), v.repeat(1, nq // nkv, 1)
        else:
            k, v = k.repeat_interleave(nq // nkv, 1), v.repeat_interleave(nq // nkv, 1)
        s = torch.einsum("qhd,khd->hqk", q, k) / math.sqrt(t["hidden_size"] / nq if "scale_from_hidden" in self.m else hd)
        n, total = len(x), len(k)
        mask = torch.arange(total)[None] > torch.arange(total - n, total)[:, None]
        if image_mask is not None and "bidirectional_image" in self.m:
            mask &= ~(image_mask[:, None] & image_mask[None])
        o = torch.einsum("hqk,khd->qhd", s.masked_fill(mask, float("-inf")).softmax(-1), v).reshape(n, -1)
        o = self.lin(o, f"{p}.self_attn.o_proj")
        after = "post_norm_after_add" in self.m
        h = self.rms(x + o, f"{p}.post_self_attn_layernorm") if after else x + self.rms(o, f"{p}.post_self_attn_layernorm")
        gate, up = self.lin(self.rms(h, f"{p}.post_attention_layernorm"), f"{p}.mlp.gate_up_proj").chunk(2, -1)
        if "text_gate_up_swapped" in self.m:
            gate, up = up, gate
        y = self.lin(up * F.silu(gate), f"{p}.mlp.down_proj")
        return self.rms(h + y, f"{p}.post_mlp_layernorm") if after else h + self.rms(y, f"{p}.post_mlp_layernorm")

    def new_cache(self):
        return [[None, None] for _ in range(self.t["num_hidden_layers"])]

    def decode(self, x, pos, cache, image_mask=None):
        """Rows through all layers -> (list of layer outputs, post-norm hidden)."""
        outs = []
        for i in range(self.t["num_hidden_layers"]):
            x = self.layer(x, i, pos, cache[i], image_mask)
            outs.append(x)
        return outs, self.rms(x, "model.language_model.norm")

    def prefill(self, ids, pixel_values=None, grids=()):
        """Whole prompt -> dict with vision stages, positions, layers, hidden, logits and the cache."""
        r = {"vision": None}
        vis = None
        if len(grids):
            r["vision"] = self.vision(pixel_values, grids)
            vis = r["vision"]["merged"]
        r["pos"], r["delta"] = self.positions(ids, grids)
        r["cache"] = self.new_cache()
        mask = torch.tensor(ids) == self.c["image_token_id"]
        r["inputs_embeds"] = self.embed(ids, vis)
        r["layers"], r["hidden"] = self.decode(r["inputs_embeds"], r["pos"], r["cache"], mask)
        r["logits"] = self.head(r["hidden"][-1:])[0]
        return r

    def greedy(self, ids, n, pixel_values=None, grids=()):
        """n greedy tokens with a cache -> (tokens, logits [n,V])."""
        r = self.prefill(ids, pixel_values, grids)
        out, rows, logits = [], [], r["logits"]
        for j in range(n):
            rows.append(logits)
            out.append(int(logits.argmax()))
            p = len(ids) + j + (0 if "decode_position_is_index" in self.m else r["delta"])
            _, h = self.decode(self.embed(out[-1:]), torch.full((3, 1), p), r["cache"])
            logits = self.head(h)[0]
        return out, torch.stack(rows)

    # ---- MTP ----------------------------------------------------------------------------------------------------
    def mtp_rows(self, e, h, pos, cache):
        """MTP layer on rows: token embeddings e, hidden h, positions [3,T] -> (u before, n after shared_head.norm)."""
        m = f"model.language_model.layers.{self.t['num_hidden_layers']}"
        a, b = self.rms(e, f"{m}.enorm"), self.rms(h, f"{m}.hnorm")
        z = self.lin(torch.cat([b, a] if "eh_proj_swapped" in self.m else [a, b], -1), f"{m}.eh_proj")
        u = self.layer(z, self.t["num_hidden_layers"], pos, cache)
        return u, self.rms(u, f"{m}.shared_head.norm")

    def mtp_draft(self, ids, first, k, opts, pixel_values=None, grids=()):
        """Prefill slots 0..L-1 (last one with `first`), then chain k drafts -> dict."""
        r = self.prefill(ids, pixel_values, grids)
        m = f"model.language_model.layers.{self.t['num_hidden_layers']}"
        table, head = self.w["model.language_model.embed_tokens.weight"], self.head
        if "copies_used" in self.m:
            table, hw = self.w[f"{m}.embed_tokens.weight"], self.w[f"{m}.shared_head.head.weight"]
            head = lambda x: x @ hw.T
        L, delta = len(ids), r["delta"]
        shifted = list(ids) if "mtp_unshifted_tokens" in self.m else list(ids[1:]) + [first]
        e = table[torch.tensor(shifted)].clone()
        if opts["image_slot_embedding"] == "vision" and len(grids):
            e[torch.tensor(shifted) == self.c["image_token_id"]] = r["vision"]["merged"]
        pos = r["pos"]
        if opts["rope_shift"]:
            pos = torch.cat([pos[:, 1:], torch.full((3, 1), L + delta)], 1)
        if opts["mask_position0"]:
            e[(pos == 0).all(0)] = 0
        h = r["layers"][-1] if "mtp_pre_norm_hidden" in self.m else r["hidden"]
        cache = [None, None]
        if "mtp_no_prefill" in self.m:
            e, h, pos = e[-1:], h[-1:], pos[:, -1:]
        u, n = self.mtp_rows(e, h, pos, cache)
        out = {"prefill": n, "drafts": [], "logits": [], "hidden": []}
        p = int(pos[0, -1])
        for j in range(k):
            logits = head(n[-1:])[0]
            out["logits"].append(logits)
            out["hidden"].append(n[-1])
            out["drafts"].append(int(logits.argmax()))
            if j + 1 == k:
                break
            p = L + j if "mtp_chain_position_is_index" in self.m else p + 1
            prev = (u if opts["chain_norm"] == "pre" else n)[-1:]
            u, n = self.mtp_rows(table[out["drafts"][-1:]], prev, torch.full((3, 1), p), cache)
        out["logits"], out["hidden"] = torch.stack(out["logits"]), torch.stack(out["hidden"])
        return out
