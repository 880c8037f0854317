"""The three kinds of draft heads in any float type, for teacher-forced training: the GLM-OCR layer, the DeepSeek-form layer over
MLA (dense or MoE), and residual heads. Formulas: docs/MTP.md and
model/families/draft_shape.h. `bad` switches deliberate mistakes on."""
import math

import torch
import torch.nn.functional as F


class Straight(torch.autograd.Function):
    """Value of the second argument, gradient to the first unchanged (a rotation that backward forgets)."""

    @staticmethod
    def forward(ctx, x, y):
        return y.clone()

    @staticmethod
    def backward(ctx, g):
        return g, None


class NoDelta(torch.autograd.Function):
    """Softmax whose backward leaves out the row term."""

    @staticmethod
    def forward(ctx, s):
        p = s.softmax(-1)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[0] * g


def rms(x, g, eps, bad=()):
    """RMSNorm."""
    r = torch.rsqrt((x * x).mean(-1, keepdim=True) + (1e-6 if "eps_1e-6" in bad else eps))
    return g * x * (r.detach() if "rms_factor_constant" in bad else r)


def turn(x, cos, sin, adjacent):
    """Rotation of [T, heads, n] by [T, n/2] tables; adjacent pairs (2d, 2d+1) or half-split pairs (d, d+n/2)."""
    cos, sin = cos[:, None], sin[:, None]
    if adjacent:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def rotate(x, cos, sin, adjacent, bad):
    y = turn(x, cos, sin, adjacent)
    return Straight.apply(x, y.detach()) if "rotation_not_undone" in bad else y


def attend(q, k0, v0, base, chain, scale, bad=()):
    """q [R,H,n]; step-0 keys/values k0, v0 [S,H,*]; chain: [(k, v)] of steps 1..d, rows as q. Row r sees k0 rows <= base[r] and its own chain."""
    S, d = len(k0), len(chain)
    limit = base + d if "sees_step0_keys_up_to_i_plus_d" in bad and d else base
    hidden = torch.arange(S)[None] > limit[:, None]
    if "chain_sees_own_slot_only" in bad and d:
        hidden = torch.ones_like(hidden)
    if "step0_keys_before_i_only" in bad and d:
        hidden = torch.arange(S)[None] >= limit[:, None]
    if d and "no_gradient_into_step0_keys" in bad:
        k0, v0 = k0.detach(), v0.detach()
    s = torch.einsum("rhn,shn->rhs", q, k0)
    if "later_steps_attend_step_d_rows" in bad and d:
        kd, vd = chain[-1]
        lo = int(base[0])
        pad = S - lo - len(base)
        k0 = torch.cat([k0[:lo], kd, k0[S - pad:]])
        v0 = torch.cat([v0[:lo], vd, v0[S - pad:]])
        s, chain = torch.einsum("rhn,shn->rhs", q, k0), []
    if "chain_keys_of_earlier_steps_missing" in bad:
        chain = chain[-1:]
    if "own_chain_keys_missing" in bad:
        chain = []
    s = s.masked_fill(hidden[:, None], float("-inf"))
    s = torch.cat([s] + [(q * k).sum(-1, keepdim=True) for k, _ in chain], -1) * scale
    p = NoDelta.apply(s) if "softmax_without_delta" in bad else s.softmax(-1)
    out = torch.einsum("rhs,shv->rhv", p[..., :S], v0)
    for t, (_, v) in enumerate(chain):
        out = out + p[..., S + t, None] * v
    return out


class Frozen:
    """Embedding table and head shared with the target."""

    def __init__(self, table, head, params, eps, softcap=0.0):
        self.table, self.head, self.params, self.eps, self.softcap = table.clone(), head.clone(), params, eps, softcap
        self.vocab = len(head)

    def trained(self, bad=()):
        out = dict(self.params)
        if "router_frozen" in bad:
            out.pop("mlp.gate.weight", None)
        if "head_trained_too" in bad:
            out["lm_head.weight"] = self.head
        if "embedding_trained_too" in bad:
            out["embed_tokens.weight"] = self.table
        return out

    def logits(self, vec, subset=None):
        w = self.head if subset is None else self.head[subset]
        y = vec @ w.T
        return self.softcap * torch.tanh(y / self.softcap) if self.softcap else y


class ChainLayer(Frozen):
    """One transformer layer reused for all steps. Subclasses give `keys(a, pos)`, `queries(a, pos)` and `after(z, ctx)`."""

    chain = "n"
    collected = None             # a list: receives one dict of inner tensors per page

    def outputs(self, page, K, bad=()):
        """[(base slots, n)] for steps 0..K-1; step 0 covers all slots 0..L-2, later steps the text rows."""
        keep = {}
        if self.collected is not None:
            self.collected.append(keep)
        return [(base, n) for base, _, n in self.steps(page, K, bad, keep)]

    def steps(self, page, K, bad=(), keep=None):
        """[(base slots, u, n)]; the dict `keep` receives the tensors whose gradients are exported."""
        keep = {} if keep is None else keep
        e_all, L = self.table[page.ids], len(page.ids)
        if "embedding_trained_too" not in bad:
            e_all = e_all.detach()
        base = torch.arange(L - 1)
        first = 0 if "prompt_rows_in_loss" in bad else page.prompt - 1
        out, chain, prev = [], [], page.hidden
        for d in range(K):
            if d:
                last = L - 3 - d
                rows = torch.arange(first, max(last + 1, first))
                take = rows - base[0] if len(base) else rows
                prev, chain = prev[take], [(k[take], v[take]) for k, v in chain]
                base = rows
                if not len(base):
                    out.append((base, prev, prev))
                    continue
            shift = 1 if "token_shift_not_advanced" in bad else d + 1
            e = e_all[base + shift]
            where = base + (0 if "rope_not_advanced" in bad else d)
            pos = page.pos[..., where]
            if "rope_is_index" in bad and d:
                pos = where.expand_as(pos)
            if "rope_shifted_by_one" in bad:
                pos = page.pos[..., (where + 1).clamp(max=L - 1)]
            z = self.mix(e, prev, bad)
            a = rms(z, self.params["input_layernorm.weight"], self.eps, bad)
            k, v = self.keys(a, pos, bad)
            q = self.queries(a, pos, bad)
            if d == 0:
                k0, v0 = k, v
                keep["k0"], keep["v0"] = k, v
                if "prompt_keys_get_no_gradient" in bad:
                    n = page.prompt - 1
                    k0, v0 = torch.cat([k[:n].detach(), k[n:]]), torch.cat([v[:n].detach(), v[n:]])
            else:
                chain = chain + [(k, v)]
            if "gqa_gradient_of_one_head" in bad:
                ctx = self.one_head_gradient(q, k0, v0, base, chain, bad)
            else:
                wide = [(self.widen(kk), self.widen(vv)) for kk, vv in chain]
                ctx = attend(q, self.widen(k0), self.widen(v0), base, wide, self.scale, bad)
            u = self.after(z, ctx, bad)
            n = rms(u, self.params["shared_head.norm.weight"], self.eps, bad)
            keep[f"n{d}"] = n
            out.append((base, u, n))
            prev = u if (self.chain == "u") != ("other_chain_vector" in bad) else n
            if "chain_detached" in bad:
                prev = prev.detach()
            if "chain_is_target_hidden" in bad:
                prev = page.hidden[base]
        return out

    def mix(self, e, h, bad):
        """z = E [N(e) | N(h)]."""
        a = rms(e, self.params["enorm.weight"], self.eps, bad)
        b = rms(h, self.params["hnorm.weight"], self.eps, bad)
        return torch.cat([b, a] if "hidden_half_first" in bad else [a, b], -1) @ self.params["eh_proj.weight"].T

    def widen(self, x):
        """Key/value heads -> one per query head."""
        return x.repeat_interleave(self.group, 1)

    def one_head_gradient(self, q, k0, v0, base, chain, bad):
        def wide(x):
            parts = [x] + [x.detach()] * (self.group - 1)
            return torch.stack(parts, 2).flatten(1, 2)
        return attend(q, wide(k0), wide(v0), base, [(wide(k), wide(v)) for k, v in chain], self.scale, bad)


class GlmLayer(ChainLayer):
    """GLM-OCR layer N: sandwich norms, grouped-query attention, interleaved M-RoPE, gate/up in one matrix."""

    NAMES = ("enorm.weight", "hnorm.weight", "eh_proj.weight", "input_layernorm.weight", "self_attn.q_proj.weight", "self_attn.k_proj.weight",
             "self_attn.v_proj.weight", "self_attn.o_proj.weight", "post_self_attn_layernorm.weight", "post_attention_layernorm.weight",
             "mlp.gate_up_proj.weight", "mlp.down_proj.weight", "post_mlp_layernorm.weight", "shared_head.norm.weight")

    def __init__(self, weights, config, dtype, chain="n"):
        t = config["text_config"]
        table = weights["model.language_model.embed_tokens.weight"].to(dtype)
        head = weights.get("lm_head.weight")
        prefix = f"model.language_model.layers.{t['num_hidden_layers']}."
        super().__init__(table, table if head is None else head.to(dtype),
                         {n: weights[prefix + n].to(dtype).clone() for n in self.NAMES}, t["rms_norm_eps"])
        self.t, self.chain, self.prefix = t, chain, prefix
        self.heads, self.kv, self.dim = t["num_attention_heads"], t["num_key_value_heads"], t["head_dim"]
        self.group, self.scale = self.heads // self.kv, self.dim ** -0.5
        r, half = t["rope_parameters"], self.dim // 2
        self.freq = r["rope_theta"] ** (-torch.arange(half, dtype=dtype) * 2 / self.dim)
        self.axis = torch.repeat_interleave(torch.arange(3), torch.tensor(r["mrope_section"]))

    def tables(self, pos):
        angle = pos.to(self.freq.dtype)[self.axis].T * self.freq
        return angle.cos(), angle.sin()

    def queries(self, a, pos, bad):
        q = (a @ self.params["self_attn.q_proj.weight"].T).view(-1, self.heads, self.dim)
        return rotate(q, *self.tables(pos), True, bad)

    def keys(self, a, pos, bad):
        k = (a @ self.params["self_attn.k_proj.weight"].T).view(-1, self.kv, self.dim)
        v = (a @ self.params["self_attn.v_proj.weight"].T).view(-1, self.kv, self.dim)
        return rotate(k, *self.tables(pos), True, bad), v

    def after(self, z, ctx, bad):
        p, eps = self.params, self.eps
        o = ctx.flatten(1) @ p["self_attn.o_proj.weight"].T
        s = z + rms(o, p["post_self_attn_layernorm.weight"], eps, bad)
        gate, up = (rms(s, p["post_attention_layernorm.weight"], eps, bad) @ p["mlp.gate_up_proj.weight"].T).chunk(2, -1)
        w = (up * F.silu(gate)) @ p["mlp.down_proj.weight"].T
        return s + rms(w, p["post_mlp_layernorm.weight"], eps, bad)


class LatentLayer(ChainLayer):
    """DeepSeek-form layer: MLA with latent keys, dense SwiGLU or routed experts with a shared one; pre-norm only."""

    def __init__(self, weights, params, config, dtype, chain="n"):
        c = config
        table = weights["model.embed_tokens.weight"].to(dtype)
        super().__init__(table, weights.get("lm_head.weight", table).to(dtype), {n: x.to(dtype).clone() for n, x in params.items()},
                         c["rms_norm_eps"])
        self.bias = self.params.pop("mlp.gate.e_score_correction_bias", None)
        self.c, self.chain, self.group, self.margin = c, chain, 1, math.inf
        self.heads, self.dn, self.dr, self.dv, self.rk = (c[k] for k in ("num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim",
                                                                         "v_head_dim", "kv_lora_rank"))
        r = c["rope_parameters"]
        f = r["rope_theta"] ** (-torch.arange(0, self.dr, 2, dtype=dtype) / self.dr)
        self.m = big = 1.0
        if r["rope_type"] == "yarn":
            bound = lambda rot: self.dr * math.log(r["original_max_position_embeddings"] / (2 * math.pi * rot)) / (2 * math.log(r["rope_theta"]))
            lo, hi = max(math.floor(bound(r["beta_fast"])), 0), min(math.ceil(bound(r["beta_slow"])), self.dr - 1)
            ramp = ((torch.arange(self.dr // 2, dtype=dtype) - lo) / (hi - lo)).clamp(0, 1)
            f = f / r["factor"] * ramp + f * (1 - ramp)
            g = lambda scale: 0.1 * scale * math.log(r["factor"]) + 1
            both = r.get("mscale_all_dim") or 0
            self.m, big = (g(r["mscale"]) / g(both), g(both)) if both else (g(r["mscale"]), 1.0)
        self.freq, self.scale, self.plain_scale = f, (self.dn + self.dr) ** -0.5 * big ** 2, (self.dn + self.dr) ** -0.5
        self.adjacent = c.get("rope_interleave", True)

    def rope(self, x, pos, bad):
        angle = pos.to(self.freq.dtype)[:, None] * self.freq
        m = 1.0 if "cos_sin_factor_missing" in bad else self.m
        return rotate(x, angle.cos() * m, angle.sin() * m, self.adjacent != ("other_pairing" in bad), bad)

    def queries(self, a, pos, bad):
        p, eps = self.params, self.eps if "a_norm_eps_from_config" in bad else 1e-6
        lat = rms(a @ p["self_attn.q_a_proj.weight"].T, p["self_attn.q_a_layernorm.weight"], eps, bad)
        q = (lat @ p["self_attn.q_b_proj.weight"].T).view(-1, self.heads, self.dn + self.dr)
        q = torch.cat([q[..., :self.dn], self.rope(q[..., self.dn:], pos, bad)], -1)
        return q * (self.plain_scale / self.scale) if "softmax_factor_missing" in bad else q

    def keys(self, a, pos, bad):
        p = self.params
        t = a @ p["self_attn.kv_a_proj_with_mqa.weight"].T
        c = rms(t[:, :self.rk], p["self_attn.kv_a_layernorm.weight"], self.eps if "a_norm_eps_from_config" in bad else 1e-6, bad)
        kr = self.rope(t[:, None, self.rk:], pos, bad)
        if "rotary_key_gradient_of_one_head" in bad:
            kr = torch.cat([kr] + [kr.detach()] * (self.heads - 1), 1)
        kv = (c @ p["self_attn.kv_b_proj.weight"].T).view(-1, self.heads, self.dn + self.dv)
        if "latent_gradient_of_values_only" in bad:
            kd = (c.detach() @ p["self_attn.kv_b_proj.weight"].T).view(-1, self.heads, self.dn + self.dv)
            kv = torch.cat([kd[..., :self.dn], kv[..., self.dn:]], -1)
        return torch.cat([kv[..., :self.dn], kr.expand(-1, self.heads, -1)], -1), kv[..., self.dn:]

    def after(self, z, ctx, bad):
        p = self.params
        s = z + ctx.flatten(1) @ p["self_attn.o_proj.weight"].T
        return s + self.mlp(rms(s, p["post_attention_layernorm.weight"], self.eps, bad), bad)

    def swiglu(self, x, prefix):
        p = self.params
        return (F.silu(x @ p[prefix + "gate_proj.weight"].T) * (x @ p[prefix + "up_proj.weight"].T)) @ p[prefix + "down_proj.weight"].T

    def route(self, x, bad=()):
        """(experts [rows, K] ascending, weights [rows, K]); selection carries no gradient."""
        c, E = self.c, self.c["n_routed_experts"]
        s = (x @ self.params["mlp.gate.weight"].T).sigmoid()
        biased = (s + self.bias).detach()
        groups = biased.view(len(x), c["n_group"], -1).topk(2, -1).values.sum(-1)
        kept = torch.zeros(len(x), c["n_group"], dtype=torch.bool).scatter(1, groups.topk(c["topk_group"], -1).indices, True)
        ranked = biased.masked_fill(~kept.repeat_interleave(E // c["n_group"], 1), float("-inf"))
        best = ranked.topk(c["num_experts_per_tok"] + 1, -1).values
        self.margin = min(self.margin, float((best[:, -2] - best[:, -1]).min()))
        if c["topk_group"] < c["n_group"]:
            g = groups.topk(c["topk_group"] + 1, -1).values
            self.margin = min(self.margin, float((g[:, -2] - g[:, -1]).min()))
        idx = ranked.topk(c["num_experts_per_tok"], -1).indices.sort(-1).values
        w = (s + self.bias if "weights_from_biased_scores" in bad else s).gather(1, idx)
        if c["norm_topk_prob"]:
            total = w.sum(-1, keepdim=True) + 1e-20
            w = w / (total.detach() if "router_sum_constant" in bad else total)
        return idx, w * c["routed_scaling_factor"]

    def mlp(self, x, bad):
        if "mlp.gate.weight" not in self.params:
            return self.swiglu(x, "mlp.")
        idx, w = self.route(x, bad)
        if "router_gets_no_gradient" in bad:
            w = w.detach()
        y = self.swiglu(x, "mlp.shared_experts.")
        for e in range(self.c["n_routed_experts"]):
            row, col = (idx == e).nonzero(as_tuple=True)
            if len(row):
                y = y.index_add(0, row, w[row, col, None] * self.swiglu(x[row], f"mlp.experts.{e}."))
        return y


class ResidualHeads(Frozen):
    """MiniLLM heads: g_{k+1} = g_k + down(silu(gate n) * up n), n = RMSNorm(g_k); logits of head k = head g_{k+1}, without a norm."""

    def __init__(self, weights, params, eps, dtype, softcap=0.0):
        table = weights["model.embed_tokens.weight"].to(dtype)
        super().__init__(table, weights.get("lm_head.weight", table).to(dtype), {n: x.to(dtype).clone() for n, x in params.items()}, eps, softcap)

    def outputs(self, page, K, bad=()):
        g, out, first = page.hidden, [], 0 if "prompt_rows_in_loss" in bad else page.prompt - 1
        base = torch.arange(len(page.ids) - 1)
        for k in range(K):
            rows = torch.arange(first, max(len(page.ids) - 2 - k, first))
            g = g[rows - (base[0] if len(base) else 0)]
            base = rows
            p = f"mtp_layers.{k}."
            n = g if "residual_norm_missing" in bad else rms(g, self.params[p + "norm.weight"], self.eps, bad)
            gate, up = n @ self.params[p + "gate_proj.weight"].T, n @ self.params[p + "up_proj.weight"].T
            y = (F.silu(gate) * up) @ self.params[p + "down_proj.weight"].T
            g = y if "no_residual" in bad else g + y
            out.append((base, g * torch.rsqrt((g * g).mean(-1, keepdim=True) + self.eps) if "norm_before_head" in bad else g))
            if "chain_detached" in bad:
                g = g.detach()
            if "every_head_from_h" in bad:
                g = page.hidden[base]
        return out
