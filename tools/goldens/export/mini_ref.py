"""Own implementation of the second family, in any float type and in both attention forms, with
switchable mistakes. Reference of every `minillm` case that transformers has no class for. Rows carry a leading batch axis: [B, T, D]."""
import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

MISTAKES = {
    # router and experts
    "not_normalised": "weights of the chosen experts never normalised",
    "normalised_anyway": "weights normalised although the config says no",
    "scores_exchanged": "sigmoid and softmax exchanged",
    "router_bf16": "router input, weights and logits rounded to bfloat16",
    "group_rule": "group value: sum of two for softmax, maximum for sigmoid",
    "groups_ignored": "all groups allowed",
    "last_expert_tie": "of equal scores the last expert chosen instead of the first",
    "no_routed_scale": "routed_scaling_factor forgotten",
    "shared_forgotten": "shared expert left out",
    "shared_scaled": "shared expert multiplied by routed_scaling_factor",
    "layer_rule": "MoE layers by the other family's rule",
    "first_k_ignored": "first_k_dense_replace ignored",
    "bias_forgotten": "e_score_correction_bias left out",
    "biased_weights": "expert weights taken from the biased scores",
    # attention
    "pairing": "adjacent and half-split rotary pairs exchanged",
    "kv_b_swapped": "kv_b rows of a head read as value part, then key part",
    "kv_b_blocked": "kv_b rows read as all keys, then all values",
    "q_rope_first": "rope part first inside each query head",
    "kv_a_rope_first": "rope key first in kv_a rows",
    "scale_nope": "softmax scale from the nope width only",
    "scale_value": "softmax scale from v_head_dim",
    "no_kv_norm": "latent not normalised",
    "key_normalised": "rotary key normalised together with the latent",
    "no_q_norm": "query latent not normalised",
    "a_norm_eps": "epsilon of q_a/kv_a norms: 1e-6 for minillm, config value for DeepSeek",
    "attention_bias_forgotten": "attention biases left out",
    "rope_bf16": "cos and sin rounded to bfloat16",
    # rotary scaling
    "mscale_both": "g(factor, mscale) on cos/sin and its square on the softmax scale",
    "mscale_none": "no temperature at all",
    "mscale_swapped": "the softmax factor on cos/sin and the other way round",
    "ramp_reversed": "YaRN ramp from the other end",
    "always_yarn": "YaRN frequencies although max positions do not exceed the original",
    "scaling_ignored": "rope_scaling ignored",
    "half_table": "first half of the file's rope tables used for both halves",
    "tables_ignored": "rope tables of the file ignored",
    # small things
    "silu": "silu instead of relu2",
    "residual_scale_ignored": "residual_scale and residual_decay ignored",
    "softcap_forgotten": "logit_softcap forgotten",
    "softcap_unscaled": "tanh(logit/cap) without the factor cap",
    # residual heads
    "head_no_norm": "residual heads without their norm",
    "head_no_residual": "g = MLP(norm(g)) instead of g + MLP(norm(g))",
    "heads_parallel": "every head works on h instead of the previous head's output",
    "head_extra_norm": "final norm applied again before the shared head",
    "head_pre_norm_hidden": "heads start from the hidden before the final norm",
    "head_softcap_forgotten": "softcap on the main logits only",
    "offset_late": "drafts used one position late (head k taken for t+k+3)",
    # simple DSA
    "topk_before_mask": "causal_topk: top-k taken before the causal mask",
    "mask_before_topk": "seed_compat: causal mask before top-k",
    "index_relu": "ReLU in the simple indexer",
    "index_rope": "rotary in the simple indexer",
    "last_tie": "of equal index scores the latest key kept instead of the earliest",
    "index_one_key": "one index key (the first head's) for all heads",
    "index_pre_norm": "indexer reads the layer input instead of its norm",
    "decode_sparse": "seed_compat: selection also while decoding",
    "index_ignored": "DSA mode ignored, dense attention",
    # DeepSeek MTP
    "eh_swapped": "hidden half first in the input of eh_proj",
    "no_hnorm": "hnorm left out",
    "no_enorm": "enorm left out",
    "mtp_pre_norm_hidden": "MTP layer gets the hidden before the final norm",
    "mtp_unshifted": "slot i gets token i instead of token i+1",
    "mtp_no_prefill": "MTP cache empty at the first draft",
    "no_shared_norm": "shared_head.norm left out",
    "copies_used": "MTP layer uses its stored copies of embedding and head",
    "no_extend": "accepted slots keep the entries written while drafting",
    # hybrid
    "mrope_positions": "image rows share one position",
    "image_bidirectional": "image rows see each other",
    "image_not_overwritten": "placeholder embeddings kept at image rows",
}
RENAME = {"kv_a_proj_with_mqa": "kv_a_proj", "q_a_layernorm": "q_a_norm", "kv_a_layernorm": "kv_a_norm", "shared_experts": "shared_expert"}
YARN_DEFAULT = {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0, "mscale_all_dim": 0.0, "original_max_position_embeddings": 4096,
                "type": "yarn"}


def up64(n):
    return 64 * ((n + 63) // 64)


def derive(raw):
    """Config with defaults filled in."""
    deep = raw["model_type"] != "minillm"
    c = dict(hidden_act="silu", rms_norm_eps=1e-6, attention_bias=False, tie_word_embeddings=not deep, logit_softcap=0.0, rope_theta=10000.0,
             q_lora_rank=256, kv_lora_rank=128, qk_nope_head_dim=64, qk_rope_head_dim=32, v_head_dim=64, use_moe=deep, num_experts_per_tok=2,
             n_shared_experts=0, n_group=1, routed_scaling_factor=1.0, norm_topk_prob=True, moe_layer_freq=1, first_k_dense_replace=0,
             scoring_func="sigmoid" if deep else "softmax", max_position_embeddings=32768, residual_scale=1.0, residual_decay=0.0,
             num_nextn_predict_layers=1, index_n_heads=0, index_head_dim=32, index_topk=0, inference_rope_scaling=False, rope_scaling=None)
    c.update({k: v for k, v in raw.items() if v is not None or k not in c})
    d = c["hidden_size"]
    c["q_lora_rank"] = raw.get("q_lora_rank", c["q_lora_rank"]) or 0
    for k, n in (("intermediate_size", int(8 * d / 3)), ("moe_intermediate_size", max(1, d // 4)), ("mtp_intermediate_size", max(1, 2 * d))):
        c[k] = c.get(k) or up64(n)
    c["n_routed_experts"] = (c.get("n_routed_experts") or 4) if c["use_moe"] else None
    c["n_shared_experts"] = c["n_shared_experts"] if c["use_moe"] else 0
    c["topk_group"] = c.get("topk_group") or c["n_group"]
    r = c.get("rope_parameters")
    if r:
        c["rope_theta"] = r.get("rope_theta", c["rope_theta"])
        c["rope_scaling"] = {**r, "type": r.get("rope_type")} if r.get("rope_type") != "default" else None
    if c["inference_rope_scaling"] and not c["rope_scaling"]:
        c["rope_scaling"] = dict(YARN_DEFAULT)
    c["deepseek"] = deep
    c["adjacent"] = deep and c.get("rope_interleave", True)
    return c


def g_factor(scale, m):
    return 1.0 if scale <= 1 else 0.1 * m * math.log(scale) + 1


def rms(x, w, eps):
    return w * (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps))


def load(folder, text_prefix="model."):
    """Weights under internal names: seed names without the leading `model.`; stacked experts split."""
    w = {}
    for f in sorted(Path(folder).glob("model*.safetensors")):
        w.update(load_file(str(f)))
    out = {}
    for k, v in w.items():
        if k.startswith("model.visual."):
            continue
        k = k[len(text_prefix):] if k.startswith(text_prefix) else k
        for a, b in RENAME.items():
            k = k.replace("." + a + ".", "." + b + ".")
        if k.endswith("experts.gate_up_proj"):
            for e, m in enumerate(v):
                out[f"{k[:-12]}{e}.gate_proj.weight"], out[f"{k[:-12]}{e}.up_proj.weight"] = m.chunk(2)
        elif k.endswith("experts.down_proj"):
            for e, m in enumerate(v):
                out[f"{k[:-9]}{e}.down_proj.weight"] = m
        else:
            out[k] = v
    return out


class Cache:
    """Per layer: latent, rotary key, index key; truncation lowers the length."""

    def __init__(self):
        self.planes = {}

    def put(self, layer, name, rows):
        old = self.planes.get((layer, name))
        self.planes[layer, name] = rows if old is None else torch.cat([old, rows], 1)
        return self.planes[layer, name]

    def length(self):
        return next(iter(self.planes.values())).shape[1] if self.planes else 0

    def truncate(self, n):
        self.planes = {k: v[:, :n] for k, v in self.planes.items()}


class Mini:
    """One model. `form`: multihead (keys and values expanded) or absorbed; `dsa`: off, causal_topk or seed_compat."""

    def __init__(self, folder=None, dtype=torch.float64, mistakes=(), form="multihead", dsa="off", config=None, weights=None):
        raw = config or json.loads((Path(folder) / "config.json").read_text())
        self.hybrid = raw if "text_config" in raw else None
        self.c = derive(raw["text_config"] if self.hybrid else raw)
        self.w = weights if weights is not None else load(folder, "model.language_model." if self.hybrid else "model.")
        self.w = {k: v.to(dtype) for k, v in self.w.items()}
        self.dtype, self.bad, self.form, self.dsa = dtype, frozenset(mistakes), form, dsa
        if self.bad - set(MISTAKES):
            raise ValueError(f"unknown mistake {self.bad - set(MISTAKES)}")
        if "index_ignored" in self.bad:
            self.dsa = "off"
        self.eps = self.c["rms_norm_eps"]
        self.eps_a = 1e-6 if self.c["deepseek"] != ("a_norm_eps" in self.bad) else self.eps
        self.rotary()

    # ---- rotary ---------------------------------------------------------------------------------------------------------------------------
    def rotary(self):
        """Frequencies, factor m on cos/sin, factor M on the softmax scale."""
        c, s = self.c, self.c["rope_scaling"] or {}
        dr, theta, kind = c["qk_rope_head_dim"], c["rope_theta"], s.get("type")
        f = theta ** (-torch.arange(0, dr, 2, dtype=torch.float64) / dr)
        m = big = 1.0
        if "scaling_ignored" in self.bad:
            kind = None
        if kind == "linear":
            f = f / s["factor"]
        elif kind == "yarn":
            factor, top = s.get("factor", 1.0), c["max_position_embeddings"]
            orig = s.get("original_max_position_embeddings", top)
            if top > orig or "always_yarn" in self.bad:
                bound = lambda rot: dr * math.log(orig / (2 * math.pi * rot)) / (2 * math.log(theta))
                lo, hi = max(math.floor(bound(s.get("beta_fast", 32))), 0), min(math.ceil(bound(s.get("beta_slow", 1))), dr - 1)
                ramp = ((torch.arange(dr // 2).double() - lo) / (hi - lo if hi != lo else 1)).clamp(0, 1)
                ramp = 1 - ramp if "ramp_reversed" in self.bad else ramp
                f = f / factor * ramp + f * (1 - ramp)
            one, both = s.get("mscale", 1.0), s.get("mscale_all_dim", 0.0)
            m, big = g_factor(factor, one) / g_factor(factor, both), (g_factor(factor, both) if both else 1.0)
            if "mscale_both" in self.bad:
                m = big = g_factor(factor, one)
            if "mscale_none" in self.bad:
                m = big = 1.0
            if "mscale_swapped" in self.bad:
                m, big = big, m
        self.freq, self.m, self.big_m = f, m, big
        self.scale = (c["qk_nope_head_dim"] + dr) ** -0.5
        if "scale_nope" in self.bad:
            self.scale = c["qk_nope_head_dim"] ** -0.5
        if "scale_value" in self.bad:
            self.scale = c["v_head_dim"] ** -0.5
        self.scale *= self.big_m ** 2

    def tables(self, pos):
        """cos and sin [len(pos), Dr], second half equal to the first unless the file holds tables. Float32 runs turn the angle in float32."""
        if "freqs_cos" in self.w and "tables_ignored" not in self.bad:
            cos, sin = self.w["freqs_cos"][pos], self.w["freqs_sin"][pos]
            half = cos.shape[-1] // 2
            return (cos[:, :half].repeat(1, 2), sin[:, :half].repeat(1, 2)) if "half_table" in self.bad else (cos, sin)
        angle = pos[:, None].to(self.dtype) * self.freq.to(self.dtype)
        cos, sin = angle.cos() * self.m, angle.sin() * self.m
        if "rope_bf16" in self.bad:
            cos, sin = cos.bfloat16().to(self.dtype), sin.bfloat16().to(self.dtype)
        return cos.repeat(1, 2), sin.repeat(1, 2)

    def turn(self, x, cos, sin, adjacent):
        """x [B,T,heads,Dr]; the result keeps half-split order (scores do not depend on the order)."""
        if adjacent != ("pairing" in self.bad):
            a, b = x[..., 0::2], x[..., 1::2]
        else:
            a, b = x.chunk(2, -1)
        (c1, c2), (s1, s2) = cos[:, None].chunk(2, -1), sin[:, None].chunk(2, -1)
        return torch.cat([a * c1 - b * s1, b * c2 + a * s2], -1)

    # ---- layers ---------------------------------------------------------------------------------------------------------------------------
    def lin(self, x, name):
        y = x @ self.w[name + ".weight"].T
        b = self.w.get(name + ".bias")
        return y if b is None or "attention_bias_forgotten" in self.bad else y + b

    def act(self, g):
        return g.relu() ** 2 if self.c["hidden_act"] == "relu2" and "silu" not in self.bad else F.silu(g)

    def ffn(self, x, p):
        return self.lin(self.act(self.lin(x, p + "gate_proj")) * self.lin(x, p + "up_proj"), p + "down_proj")

    def is_moe(self, i):
        c = self.c
        if not c["use_moe"]:
            return False
        first, freq = (0 if "first_k_ignored" in self.bad else c["first_k_dense_replace"]), max(c["moe_layer_freq"], 1)
        return i >= first and (i if c["deepseek"] != ("layer_rule" in self.bad) else i - first) % freq == 0

    def attention(self, i, x, pos, cache, keep, extra_mask=None):
        c, w, p = self.c, self.w, f"layers.{i}.self_attn."
        B, T, _ = x.shape
        H, dn, dr, dv, rk = c["num_attention_heads"], c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["v_head_dim"], c["kv_lora_rank"]
        a = rms(x, w[f"layers.{i}.input_layernorm.weight"], self.eps)
        if c["q_lora_rank"]:
            ql = self.lin(a, p + "q_a_proj")
            ql = ql if "no_q_norm" in self.bad else rms(ql, w[p + "q_a_norm.weight"], self.eps_a)
            q = ql @ w[p + "q_b_proj.weight"].T
        else:
            q = a @ w[p + "q_proj.weight"].T
        q = q.view(B, T, H, dn + dr)
        qn, qr = (q[..., dr:], q[..., :dr]) if "q_rope_first" in self.bad else (q[..., :dn], q[..., dn:])
        t = self.lin(a, p + "kv_a_proj")
        lat, kr = (t[..., dr:], t[..., :dr]) if "kv_a_rope_first" in self.bad else (t[..., :rk], t[..., rk:])
        if "key_normalised" in self.bad:
            kr = kr * torch.rsqrt((kr * kr).mean(-1, keepdim=True) + self.eps_a)
        if "no_kv_norm" not in self.bad:
            lat = rms(lat, w[p + "kv_a_norm.weight"], self.eps_a)
        cos, sin = self.tables(pos)
        qr, kr = self.turn(qr, cos, sin, c["adjacent"]), self.turn(kr[:, :, None], cos, sin, c["adjacent"])[:, :, 0]
        keep(f"latent{i}", lat)
        keep(f"latent_key{i}", kr)
        past = cache.planes[i, "lat"].shape[1] if (i, "lat") in cache.planes else 0
        lat, kr = cache.put(i, "lat", lat), cache.put(i, "key", kr)
        N = lat.shape[1]
        kvb = w[p + "kv_b_proj.weight"]
        if "kv_b_blocked" in self.bad:
            U, V = kvb[:H * dn].view(H, dn, rk), kvb[H * dn:].view(H, dv, rk)
        elif "kv_b_swapped" in self.bad:
            V, U = kvb.view(H, dn + dv, rk).split([dv, dn], 1)
        else:
            U, V = kvb.view(H, dn + dv, rk).split([dn, dv], 1)
        if self.form == "multihead":
            kn, v = torch.einsum("bkr,hdr->bkhd", lat, U), torch.einsum("bkr,hdr->bkhd", lat, V)
        else:
            qn = torch.einsum("bqhd,hdr->bqhr", qn, U)
        rule = self.selection(i, a if "index_pre_norm" not in self.bad else x, past, N, cos, sin, cache, keep)
        out, step = [], 256 if T > 1024 else T
        for s0 in range(0, T, step):
            s1 = min(T, s0 + step)
            rows = torch.arange(past + s0, past + s1)[:, None]
            n = min(N, past + s1) if rule is None else N
            future = torch.arange(n)[None] > rows
            if extra_mask is not None:
                future = future & ~extra_mask[s0:s1, :n]
            if self.form == "multihead":
                s = torch.einsum("bqhd,bkhd->bhqk", qn[:, s0:s1], kn[:, :n])
            else:
                s = torch.einsum("bqhr,bkr->bhqk", qn[:, s0:s1], lat[:, :n])
            s = (s + torch.einsum("bqhd,bkd->bhqk", qr[:, s0:s1], kr[:, :n])) * self.scale
            if rule is None:
                s = s.masked_fill(future, float("-inf"))
            else:
                selected, soft = rule
                s = s.masked_fill(future, -1e9 if soft else float("-inf")).masked_fill(~selected[:, None, s0:s1, :n], float("-inf"))
            pr = s.softmax(-1)
            if self.form == "multihead":
                out.append(torch.einsum("bhqk,bkhd->bqhd", pr, v[:, :n]))
            else:
                out.append(torch.einsum("bqhr,hdr->bqhd", torch.einsum("bhqk,bkr->bqhr", pr, lat[:, :n]), V))
        return self.lin(torch.cat(out, 1).reshape(B, T, H * dv), p + "o_proj")

    def selection(self, i, a, past, N, cos, sin, cache, keep):
        """Simple DSA: (selected [B,T,N], future keys at -1e9 instead of -infinity?) or None for dense attention."""
        c, p = self.c, f"layers.{i}.self_attn.indexer."
        hi, di, k = c["index_n_heads"], c["index_head_dim"], c["index_topk"]
        if self.dsa == "off" or not hi or not k:
            return None
        B, T, _ = a.shape
        q, key = self.lin(a, p + "q_proj").view(B, T, hi, di), self.lin(a, p + "k_proj").view(B, T, hi, di)
        if "index_rope" in self.bad:
            dr = self.c["qk_rope_head_dim"]
            q, key = (torch.cat([self.turn(y[..., :dr], cos, sin, False), y[..., dr:]], -1) for y in (q, key))
        key = cache.put(i, "index", key)
        if "index_one_key" in self.bad:
            key = key[:, :, :1].expand_as(key)
        s = torch.einsum("bqhd,bkhd->bhqk", q, key)
        s = (s.relu() if "index_relu" in self.bad else s).mean(1) * di ** -0.5
        future = torch.arange(N)[None] > torch.arange(past, past + T)[:, None]
        if self.dsa == "seed_compat":
            if (past and "decode_sparse" not in self.bad) or k >= N:
                return None
            causal = "mask_before_topk" in self.bad
        else:
            causal = "topk_before_mask" not in self.bad
        # equal tokens have equal scores in layer 0 (no position enters): rounding makes such ties exact, the lowest key index wins
        z = torch.round(s, decimals=10 if self.dtype == torch.float64 else 5)
        z = z.masked_fill(future, float("-inf")) if causal else z
        kk = min(k, N)
        if "last_tie" in self.bad:
            values, indices = z.flip(-1).sort(stable=True, dim=-1, descending=True)
            indices = N - 1 - indices
        else:
            values, indices = z.sort(stable=True, dim=-1, descending=True)
        sel = torch.zeros(B, T, N, dtype=torch.bool).scatter(-1, indices[..., :kk], True)
        if causal or self.dsa == "causal_topk":
            sel &= ~future
        if N > kk:
            gap = values[..., kk - 1] - values[..., kk]
            gap = gap[torch.isfinite(gap) & (gap > 0)]
            keep(f"index_margin{i}", gap.min() if len(gap) else torch.tensor(1e9))
        keep(f"indexer{i}.selected", sel)
        return sel, self.dsa == "seed_compat"

    def best(self, x, k):
        """Indices of the k largest, of equal ones the lowest index, and the distance to the next smaller score (rounding makes ties exact)."""
        x = torch.round(x, decimals=11 if self.dtype == torch.float64 else 6)
        if "last_expert_tie" in self.bad:
            v, i = x.flip(-1).sort(stable=True, dim=-1, descending=True)
            i = x.shape[-1] - 1 - i
        else:
            v, i = x.sort(stable=True, dim=-1, descending=True)
        gap = torch.full(x.shape[:-1], float("inf"), dtype=self.dtype)
        if x.shape[-1] > k:
            d = v[..., k - 1] - v[..., k]
            gap = torch.where(torch.isfinite(d) & (d > 0), d, gap)
        return i[..., :k], gap

    def router(self, i, b, keep, p=None):
        """-> full weights [B,T,E] (zeros for experts not chosen)."""
        c, p = self.c, p or f"layers.{i}.mlp."
        w, E, K = self.w[p + "gate.weight"], c["n_routed_experts"], c["num_experts_per_tok"]
        if "router_bf16" in self.bad:
            z = (b.bfloat16().double() @ w.bfloat16().double().T).bfloat16().to(self.dtype)
        else:
            z = b @ w.T
        sig = (c["scoring_func"] == "sigmoid") != ("scores_exchanged" in self.bad)
        s = z.sigmoid() if sig else z.softmax(-1)
        bias = self.w.get(p + "gate.e_score_correction_bias")
        choice = s if bias is None or "bias_forgotten" in self.bad else s + bias
        margin = torch.full(b.shape[:-1], float("inf"), dtype=self.dtype)
        if c["n_group"] > 1 and c["topk_group"] < c["n_group"] and "groups_ignored" not in self.bad:
            per = choice.view(*choice.shape[:-1], c["n_group"], -1)
            two = (c["deepseek"] or sig) != ("group_rule" in self.bad)
            value = per.topk(2, -1).values.sum(-1) if two else per.amax(-1)
            groups, gap = self.best(value, c["topk_group"])
            margin = torch.minimum(margin, gap)
            kept = torch.zeros_like(value, dtype=torch.bool).scatter(-1, groups, True)
            choice = choice.masked_fill(~kept.repeat_interleave(E // c["n_group"], -1), float("-inf"))
        idx, gap = self.best(choice, K)
        margin = torch.minimum(margin, gap)
        idx = idx.sort(-1).values
        wt = (choice if "biased_weights" in self.bad else s).gather(-1, idx)
        if c["deepseek"]:
            norm = c["norm_topk_prob"]
        else:
            norm = sig or (K > 1 and c["norm_topk_prob"])
        if (norm and "not_normalised" not in self.bad) or "normalised_anyway" in self.bad:
            wt = wt / (wt.sum(-1, keepdim=True) + 1e-20) if c["deepseek"] else wt / wt.sum(-1, keepdim=True).clamp(min=1e-9)
        if "no_routed_scale" not in self.bad:
            wt = wt * c["routed_scaling_factor"]
        keep(f"router{i}.logits", z)
        keep(f"router{i}.experts", idx)
        keep(f"router{i}.weights", wt)
        keep(f"router_margin{i}", margin.min())
        self.scores = s
        return torch.zeros_like(z).scatter(-1, idx, wt)

    def mlp(self, i, b, keep, moe=None):
        p = f"layers.{i}.mlp."
        if not (self.is_moe(i) if moe is None else moe):
            return self.ffn(b, p)
        full = self.router(i, b, keep)
        y = torch.zeros_like(b)
        for e in range(self.c["n_routed_experts"]):
            y = y + full[..., e:e + 1] * self.ffn(b, f"{p}experts.{e}.")
        if self.c["n_shared_experts"] and "shared_forgotten" not in self.bad:
            sh = self.ffn(b, p + "shared_expert.")
            keep(f"shared{i}", sh)
            y = y + sh * (self.c["routed_scaling_factor"] if "shared_scaled" in self.bad else 1.0)
        return y

    def layer(self, i, x, pos, cache, keep, extra_mask=None, moe=None):
        c = self.c
        f = c["residual_scale"] * (math.exp(-c["residual_decay"] * i) if c["residual_decay"] > 0 else 1.0)
        f = 1.0 if "residual_scale_ignored" in self.bad else f
        a = self.attention(i, x, pos, cache, keep, extra_mask)
        keep(f"attn{i}", a)
        x = x + f * a
        y = self.mlp(i, rms(x, self.w[f"layers.{i}.post_attention_layernorm.weight"], self.eps), keep, moe)
        keep(f"mlp{i}", y)
        x = x + f * y
        keep(f"layer{i}", x)
        return x

    # ---- model ----------------------------------------------------------------------------------------------------------------------------
    def embed(self, ids):
        return self.w["embed_tokens.weight"][torch.as_tensor(ids)]

    def cap(self, z):
        cap = self.c["logit_softcap"]
        if not cap or "softcap_forgotten" in self.bad:
            return z
        return torch.tanh(z / cap) * (1.0 if "softcap_unscaled" in self.bad else cap)

    def head(self, h):
        tied = self.c["tie_word_embeddings"] or "lm_head.weight" not in self.w
        return self.cap(h @ self.w["embed_tokens.weight" if tied else "lm_head.weight"].T)

    def rows(self, x, cache, keep=lambda n, v: None, pos=None, extra_mask=None):
        """Embedding rows [B,T,D] -> (hidden before, hidden after the final norm); the cache grows."""
        n = cache.length()
        pos = torch.arange(n, n + x.shape[1]) if pos is None else pos
        for i in range(self.c["num_hidden_layers"]):
            x = self.layer(i, x, pos, cache, keep, extra_mask)
        h = rms(x, self.w["norm.weight"], self.eps)
        keep("norm", h)
        return x, h

    def forward(self, ids, pos=None, embeds=None, extra_mask=None):
        """One prompt without past -> stages (leading batch axis removed)."""
        st = {}
        keep = lambda n, v: st.__setitem__(n, v[0] if v.ndim > 1 else v)
        x = self.embed(ids)[None] if embeds is None else embeds[None]
        pre, h = self.rows(x, Cache(), keep, pos, extra_mask)
        st["logits"] = self.head(h)[0]
        self.last_pre, self.last_norm = pre, h
        return st

    def heads(self, h, pre=None, n=None):
        """Residual heads: [(g_{k+1}, logits_k)]."""
        out, n = [], n or self.c["num_nextn_predict_layers"]
        g = h0 = pre if "head_pre_norm_hidden" in self.bad else h
        for k in range(n):
            p = f"mtp_layers.{k}."
            src = h0 if "heads_parallel" in self.bad else g
            y = self.ffn(src if "head_no_norm" in self.bad else rms(src, self.w[p + "norm.weight"], self.eps), p)
            g = y if "head_no_residual" in self.bad else src + y
            z = rms(g, self.w["norm.weight"], self.eps) if "head_extra_norm" in self.bad else g
            if "head_softcap_forgotten" in self.bad:
                tied = self.c["tie_word_embeddings"]
                out.append((g, z @ self.w["embed_tokens.weight" if tied else "lm_head.weight"].T))
            else:
                out.append((g, self.head(z)))
        return out


def top2(z):
    """Smallest top-1 minus top-2 over rows."""
    v = z.topk(2, -1).values
    return float(f"{float((v[..., 0] - v[..., 1]).min()):.4g}")


def start(net, ids, embeds=None, extra_mask=None, pos=None):
    """Prompt -> (cache, hidden before / after the final norm)."""
    cache = Cache()
    x = (net.embed(ids) if embeds is None else embeds)[None]
    pre, h = net.rows(x, cache, pos=pos, extra_mask=extra_mask)
    return cache, pre, h


def greedy(net, ids, count, stop=(), embeds=None, extra_mask=None, pos=None):
    """Plain greedy decoding, one row a step -> (tokens, logits [n,V], smallest router margin)."""
    low = [float("inf")]
    keep = lambda n, v: low.__setitem__(0, min(low[0], float(v))) if n.startswith(("router_margin", "index_margin")) else None
    cache, pre, h = start(net, ids, embeds, extra_mask, pos)
    out, logits = [], []
    shift = 0 if pos is None else int(pos[-1]) + 1 - len(pos)
    while True:
        z = net.head(h[:, -1:])[0, 0]
        logits.append(z)
        out.append(int(z.argmax()))
        if len(out) == count or out[-1] in stop:
            return out, torch.stack(logits), low[0]
        n = cache.length()
        pre, h = net.rows(net.embed([out[-1]])[None], cache, keep, torch.tensor([n + shift]))


def speculate_heads(net, ids, k, count, stop=(), embeds=None):
    """Greedy decoding with k residual heads, drafts verified in one forward -> (tokens, rounds)."""
    cache, pre, h = start(net, ids, embeds)
    late = "offset_late" in net.bad
    source = (h[:, -2:-1], pre[:, -2:-1]) if late else (h[:, -1:], pre[:, -1:])
    t_n = int(net.head(h[:, -1:]).argmax())
    out, rounds = [t_n], []
    while len(out) < count and out[-1] not in stop:
        base = cache.length()
        guess = net.heads(*source, k)
        drafts = [int(z[0, -1].argmax()) for _, z in guess]
        pre, h = net.rows(net.embed([t_n] + drafts)[None], cache)
        logits = net.head(h)[0]
        best = logits.argmax(-1).tolist()
        m = 0
        while m < k and drafts[m] == best[m]:
            m += 1
        emitted = drafts[:m] + [best[m]]
        cache.truncate(base + m + 1)
        kept = []
        for tok in emitted:
            if len(out) + len(kept) < count and not (kept and kept[-1] in stop):
                kept.append(tok)
        rounds.append({"target_len_before": base, "t_n": t_n, "drafts": drafts, "target_argmax": best, "accepted": m, "emitted": kept,
                       "target_len_after": cache.length(), "min_draft_margin": top2(torch.cat([z for _, z in guess], 1)),
                       "min_target_margin": top2(logits)})
        out += kept
        t_n = emitted[-1]
        j = m - 1 if late and m else m
        source = h[:, j:j + 1], pre[:, j:j + 1]
    return out, rounds


class DeepMtp:
    """The DeepSeek MTP layer `layers.{L}` of a model; slot i: hidden of token i, embedding of token i+1."""

    def __init__(self, net):
        self.net, self.i = net, net.c["num_hidden_layers"]
        self.p = f"layers.{self.i}."

    def table(self):
        w = self.net.w
        return w[self.p + "embed_tokens.weight"] if "copies_used" in self.net.bad else w["embed_tokens.weight"]

    def rows(self, e, h, pos, cache, keep=lambda n, v: None):
        net, w, p = self.net, self.net.w, self.p
        a = e if "no_enorm" in net.bad else rms(e, w[p + "enorm.weight"], net.eps)
        b = h if "no_hnorm" in net.bad else rms(h, w[p + "hnorm.weight"], net.eps)
        z = torch.cat([b, a] if "eh_swapped" in net.bad else [a, b], -1) @ w[p + "eh_proj.weight"].T
        u = net.layer(self.i, z, pos, cache, keep, moe=(p + "mlp.gate.weight") in w)
        n = u if "no_shared_norm" in net.bad else rms(u, w[p + "shared_head.norm.weight"], net.eps)
        return u, n

    def logits(self, n):
        if "copies_used" in self.net.bad:
            return n @ self.net.w[self.p + "shared_head.head.weight"].T
        return self.net.head(n)

    def prefill(self, ids, first, h, cache, keep=lambda n, v: None):
        shifted = list(ids) if "mtp_unshifted" in self.net.bad else list(ids[1:]) + [first]
        e, pos = self.table()[torch.tensor(shifted)][None], torch.arange(len(ids))
        if "mtp_no_prefill" in self.net.bad:
            e, h, pos = e[:, -1:], h[:, -1:], pos[-1:]
        return self.rows(e, h, pos, cache, keep)

    def chain(self, u, n, p, k, cache, pre):
        """k drafts from the last slot's output -> (drafts, logits [k,V], hidden [k,D])."""
        drafts, logits, hidden = [], [], []
        for j in range(k):
            z = self.logits(n[:, -1])[0]
            logits.append(z)
            hidden.append(n[0, -1])
            drafts.append(int(z.argmax()))
            if j + 1 < k:
                p += 1
                u, n = self.rows(self.table()[torch.tensor(drafts[-1:])][None], (u if pre else n)[:, -1:], torch.tensor([p]), cache)
        return drafts, torch.stack(logits), torch.stack(hidden)


def draft_after_prompt(net, ids, k, pre=False):
    """MTP prefill and one chain after the prompt -> stages."""
    mtp, st = DeepMtp(net), {}
    _, before, h = start(net, ids)
    first = int(net.head(h[:, -1]).argmax())
    cache = Cache()
    u, n = mtp.prefill(ids, first, before if "mtp_pre_norm_hidden" in net.bad else h, cache, lambda a, v: st.__setitem__(a, v[0] if v.ndim > 1 else v))
    drafts, logits, hidden = mtp.chain(u, n, len(ids) - 1, k, cache, pre)
    return {"first": first, "prefill": n[0], "drafts": drafts, "logits": logits, "hidden": hidden, "stages": st}


def speculate_deep(net, ids, k, count, stop=(), pre=False):
    """Greedy decoding with k chained drafts of the MTP layer -> (tokens, rounds)."""
    mtp, mc = DeepMtp(net), Cache()
    cache, before, h = start(net, ids)
    t_n = int(net.head(h[:, -1]).argmax())
    u, n = mtp.prefill(ids, t_n, before if "mtp_pre_norm_hidden" in net.bad else h, mc)
    out, rounds, p = [t_n], [], len(ids) - 1
    while len(out) < count and out[-1] not in stop:
        base, slots = cache.length(), mc.length()
        drafts, dl, _ = mtp.chain(u, n, p, k, mc, pre)
        after = mc.length()
        before, h = net.rows(net.embed([t_n] + drafts)[None], cache)
        logits = net.head(h)[0]
        best = logits.argmax(-1).tolist()
        m = 0
        while m < k and drafts[m] == best[m]:
            m += 1
        emitted = drafts[:m] + [best[m]]
        cache.truncate(base + m + 1)
        keep_slots = min(slots + m, after) if "no_extend" in net.bad else slots
        mc.truncate(keep_slots)
        pos = torch.arange(base, base + m + 1)
        e = mtp.table()[torch.tensor(emitted)][None]
        src = (before if "mtp_pre_norm_hidden" in net.bad else h)[:, :m + 1]
        if "no_extend" in net.bad:
            e, src, pos = e[:, -1:], src[:, -1:], pos[-1:]
        u, n = mtp.rows(e, src, pos, mc)
        p = int(pos[-1])
        kept = []
        for tok in emitted:
            if len(out) + len(kept) < count and not (kept and kept[-1] in stop):
                kept.append(tok)
        rounds.append({"target_len_before": base, "t_n": t_n, "drafts": drafts, "target_argmax": best, "accepted": m, "emitted": kept,
                       "mtp_len_before": slots, "mtp_len_after_drafting": after, "target_len_after": cache.length(), "mtp_len_after": mc.length(),
                       "min_draft_margin": top2(dl), "min_target_margin": top2(logits)})
        out += kept
        t_n = emitted[-1]
    return out, rounds
