"""Second opinions on the references: transformers' own layers with a key/value cache, torch's AdamW and encoder layer, finite
differences, and the inference goldens."""
import json

import numpy as np
import torch
import torch.nn.functional as F
from .. import mtp as M
from .. import reference as R
from ..snapshots import load_weights
from transformers import DeepseekV3Config
from transformers.cache_utils import DynamicCache
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3DecoderLayer, DeepseekV3RMSNorm, DeepseekV3RotaryEmbedding

from .losses import Objective, batch_loss, gradients
from .mistakes import Stored, glm_net, latent_net, number_miss, residual_net
from .recipe import Recipe, learning_rate, step_weights
from .packed import digits, largest
from .seed_net import SeedNet, SplitMix, start
from .train import run


def directional(loss, params, grads, seed=3, h=1e-3):
    """Worst relative error over tensors of five-point differences along a random unit direction."""
    g, worst = torch.Generator().manual_seed(seed), 0.0
    for k, p in params.items():
        v = torch.randn(p.shape, generator=g, dtype=torch.float64)
        v, old, at = v / v.norm(), p.clone(), {}
        for n in (-2, -1, 1, 2):
            p.copy_(old + n * h * v)
            at[n] = float(loss())
        p.copy_(old)
        fd, exact = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h), float((grads[k] * v).sum())
        worst = max(worst, abs(fd - exact) / max(float(grads[k].norm()), 1e-9))
    return digits(worst)


def net_differences(net, pages, obj):
    _, grads = gradients(net, pages, obj)
    return directional(lambda: batch_loss(net, pages, obj)["total"], net.trained(), grads)


def cached_vectors(layer, page, K, table, chain="n"):
    """Vectors of all rows in the order of the rows table, one base slot after the other with a growing cache: the way drafting runs.
    `layer(e, h, pos, cache)` -> (u, n)."""
    rows = {d: [] for d in range(K)}
    L, P = len(page.ids), page.prompt
    e = table[page.ids]
    for i in range(P - 1, L - 2):
        cache = DynamicCache()
        u, n = layer(e[1:i + 2], page.hidden[:i + 1], page.pos[..., :i + 1], cache)
        for d in range(K):
            if i + d + 2 > L - 1:
                break
            if d:
                u, n = layer(e[i + d + 1:i + d + 2], (u if chain == "u" else n)[-1:], page.pos[..., i + d:i + d + 1], cache)
            rows[d].append(n[-1])
    return [torch.stack(rows[d]) if rows[d] else None for d in range(K)]


def cached_gradient(layer, module_params, pages, K, table, head):
    """Loss and gradient through the cached modules."""
    for p in module_params.values():
        p.requires_grad_(True)
    with torch.enable_grad():
        out = [cached_vectors(layer, p, K, table) for p in pages]
        total = 0.0
        for d, alpha in enumerate(step_weights(K)):
            ce = [F.cross_entropy(vec[d] @ head.T, p.ids[p.prompt + 1 + d:], reduction="sum")
                  for vec, p in zip(out, pages) if vec[d] is not None]
            total = total + alpha * sum(ce) / sum(len(v[d]) for v in out if v[d] is not None)
        got = torch.autograd.grad(total, list(module_params.values()), allow_unused=True)
    for p in module_params.values():
        p.requires_grad_(False)
    return float(total), dict(zip(module_params, got))


def relative(a, b):
    return digits(float((a.double() - b.double()).norm() / b.double().norm()))


def check_glm(root, s):
    folder = (s.dir / s.j["snapshot"]).resolve()
    model, _ = R.load(folder)
    module = M.Mtp(model, load_weights(folder))
    pages = s.pages()
    p32 = [p.to(torch.float32) for p in pages]
    table, head = model.get_input_embeddings().weight, model.lm_head.weight
    out = {}
    K = max(o["K"] for o in s.j["objectives"].values())
    for chain in ("n", "u"):
        net = glm_net(s, chain)
        mine = batch_loss(net, pages, Objective(K))
        worst = 0.0
        for p, rows in zip(p32, mine["rows"]):
            for a, b in zip(cached_vectors(module, p, K, table, chain), rows):
                if a is not None:
                    worst = max(worst, largest(a.double() - b["vec"]))
        out[f"vectors_against_cached_transformers_layer_{chain}"] = digits(worst)
    names = {k: v for k, v in module.checkpoint().items()}
    params = {k: p for k, p in module.named_parameters() if not k.startswith("target")}
    total, got = cached_gradient(module, params, p32, 3, table, head)
    loss, want = gradients(glm_net(s), pages, Objective(3))
    own = {("shared_head." + k if k.startswith("norm.") else k.removeprefix("layer.")): g for k, g in got.items()}
    out["loss_difference_transformers_f32"] = digits(abs(total - float(loss["total"])))
    out["gradient_relative_difference_transformers_f32"] = max(relative(own[k], want[k]) for k in want)
    assert len(names) >= 14 and set(own) == set(want)
    out["finite_differences"] = {f"K3_{c}_{l}": net_differences(glm_net(s, c), pages, Objective(3, l)) for c in "nu" for l in ("hard", "soft")}
    for i, p in enumerate(s.j["pages"]):
        f, prompt = root / "mtp" / folder.name / p["name"], root / "cases" / folder.name / p["name"] / "input_ids.npy"
        if (f / "golden.json").exists() and np.array_equal(np.load(prompt), pages[i].ids[:p["prompt"]]):
            j = json.loads((f / "golden.json").read_text())["arrays"]["default.prefill"]
            have = glm_net(s).steps(pages[i], 1)[0][2][:p["prompt"]]
            want = torch.from_numpy(np.load(f / j["file"]))
            out[f"step0_against_inference_golden_{p['name']}"] = f"{digits(largest(have - want.double()) / j['atol'])} of atol"
    return out


class LatentModule(torch.nn.Module):
    """transformers' DeepSeek-V3 decoder layer with the MTP input and output around it."""

    def __init__(self, s):
        super().__init__()
        folder = (s.dir / s.j["snapshot"]).resolve()
        c = json.loads((folder / "config.json").read_text())
        c["rms_norm_eps"] = s.j["rms_norm_eps"]
        c = {k: v for k, v in c.items() if k not in ("architectures", "model_type", "transformers_version", "dtype")}
        config = DeepseekV3Config(**c)
        config._attn_implementation = "eager"
        config._experts_implementation = "eager"
        moe = "mlp.gate.weight" in s.j["tensors"]
        config.first_k_dense_replace = 0 if moe else 1
        net = latent_net(s)
        D, eps = config.hidden_size, config.rms_norm_eps
        self.enorm, self.hnorm, self.norm = (DeepseekV3RMSNorm(D, eps) for _ in range(3))
        self.eh_proj = torch.nn.Linear(2 * D, D, bias=False)
        self.layer = DeepseekV3DecoderLayer(config, 0).float().eval()
        self.rope = DeepseekV3RotaryEmbedding(config)
        p = {k: v.float() for k, v in net.params.items()}
        state = {"enorm.weight": p.pop("enorm.weight"), "hnorm.weight": p.pop("hnorm.weight"), "eh_proj.weight": p.pop("eh_proj.weight"),
                 "norm.weight": p.pop("shared_head.norm.weight")}
        if moe:
            E = config.n_routed_experts
            part = lambda e, name: p.pop(f"mlp.experts.{e}.{name}_proj.weight")
            p["mlp.experts.gate_up_proj"] = torch.stack([torch.cat([part(e, "gate"), part(e, "up")]) for e in range(E)])
            p["mlp.experts.down_proj"] = torch.stack([part(e, "down") for e in range(E)])
            p["mlp.gate.e_score_correction_bias"] = net.bias.float()
        state.update({"layer." + k: v for k, v in p.items()})
        missing, extra = self.load_state_dict(state, strict=False)
        assert not extra and all("inv_freq" in m for m in missing), (missing, extra)
        self.experts = config.n_routed_experts if moe else 0

    def forward(self, e, h, pos, cache):
        z = self.eh_proj(torch.cat([self.enorm(e), self.hnorm(h)], -1))[None]
        past = cache.get_seq_length()
        T = z.shape[1]
        mask = torch.full((T, past + T), torch.finfo(z.dtype).min).triu(past + 1)[None, None]
        u = self.layer(z, attention_mask=mask, position_ids=pos[None], past_key_values=cache, position_embeddings=self.rope(z, pos[None]))
        u = u[0] if isinstance(u, tuple) else u
        return u[0], self.norm(u)[0]

    def named_like_checkpoint(self, grads):
        out = {}
        for k, g in grads.items():
            k = "shared_head." + k if k.startswith("norm.") else k.removeprefix("layer.")
            if k == "mlp.experts.gate_up_proj":
                for e in range(self.experts):
                    out[f"mlp.experts.{e}.gate_proj.weight"], out[f"mlp.experts.{e}.up_proj.weight"] = g[e].chunk(2)
            elif k == "mlp.experts.down_proj":
                out.update({f"mlp.experts.{e}.down_proj.weight": g[e] for e in range(self.experts)})
            else:
                out[k] = g
        return out


def check_latent(s):
    module, net, pages = LatentModule(s), latent_net(s), s.pages()
    p32 = [p.to(torch.float32) for p in pages]
    table, head = net.table.float(), net.head.float()
    out, worst = {}, 0.0
    mine = batch_loss(net, pages, Objective(3))
    for p, rows in zip(p32, mine["rows"]):
        for a, b in zip(cached_vectors(module, p, 3, table), rows):
            if a is not None:
                worst = max(worst, largest(a.double() - b["vec"]))
    out["vectors_against_cached_transformers_layer_n"] = digits(worst)
    try:
        total, got = cached_gradient(module, dict(module.named_parameters()), p32, 3, table, head)
        loss, want = gradients(net, pages, Objective(3))
        own = module.named_like_checkpoint(got)
        out["loss_difference_transformers_f32"] = digits(abs(total - float(loss["total"])))
        out["gradient_relative_difference_transformers_f32"] = max(relative(own[k], want[k]) for k in want)
        out["tensors_compared"] = len(want)
    except RuntimeError as e:
        out["gradient_transformers"] = f"not available: {str(e).splitlines()[0][:160]}"
    out["finite_differences"] = {f"K3_{c}_{l}": net_differences(latent_net(s, c), pages, Objective(3, l)) for c in "nu" for l in ("hard", "soft")}
    return out


def check_optimiser(s, key="adamw_n"):
    """torch.optim.AdamW (decay towards zero, none on vectors) over the same batches against the stored weights."""
    r = s.j["runs"][key]
    recipe, net, pages = Recipe(**r["recipe"]), glm_net(s), s.pages()
    params = net.trained()
    opt = torch.optim.AdamW([{"params": [p for p in params.values() if p.ndim > 1], "weight_decay": recipe.decay},
                             {"params": [p for p in params.values() if p.ndim == 1], "weight_decay": 0.0}],
                            lr=recipe.peak, betas=(recipe.beta1, recipe.beta2), eps=recipe.eps)
    clipped = 0
    for t, batch in enumerate(r["batches"], 1):
        _, grads = gradients(net, [pages[i] for i in batch], Objective(r["K"]))
        norm = torch.cat([g.flatten() for g in grads.values()]).norm()
        factor = min(1.0, recipe.clip / float(norm))
        clipped += factor < 1
        for k, p in params.items():
            p.grad = grads[k] * factor
        for group in opt.param_groups:
            group["lr"] = learning_rate(recipe, t)
        opt.step()
    flat, worst = s.load(f"{key}.step50.npy").double(), 0.0
    for p in s.j["packed"][f"{key}.step50"]["parts"]:
        n = params[p["name"]].numel()
        worst = max(worst, largest(params[p["name"]].flatten() - flat[p["offset"]:p["offset"] + n]))
    return {"weights_after_50_steps_against_torch_adamw": digits(worst), "steps_with_active_clip": clipped}


def unit_order(net, seed=9):
    """Random orders of the hidden units and of the MLP's inner units, as index pairs per tensor (rows, columns)."""
    g, D, inner = torch.Generator().manual_seed(seed), net.table.shape[1], net.t["intermediate_size"]
    h, m = torch.randperm(D, generator=g), torch.randperm(inner, generator=g)
    both, halves = torch.cat([h, D + h]), torch.cat([m, inner + m])
    out = {k: (h, None) for k in net.params if net.params[k].ndim == 1}
    out.update({"eh_proj.weight": (h, both), "self_attn.o_proj.weight": (h, None), "mlp.gate_up_proj.weight": (halves, h), "mlp.down_proj.weight": (h, m)})
    out.update({f"self_attn.{n}_proj.weight": (None, h) for n in "qkv"})
    return h, out


def reorder(x, pair, back=False):
    """Rows and columns of x in a given order, or back."""
    for axis, order in enumerate(pair):
        if order is not None:
            x = x.index_select(axis, order.argsort() if back else order)
    return x


def check_other_float32(s):
    """A second float32 computation (hidden and inner units in another order, hence other rounding) in units of the tolerances."""
    out = {}
    for key, chain in (("adamw_n", "n"), ("adamw_u", "u")):
        net = glm_net(s, chain)
        h, orders = unit_order(net)
        net.params = {k: reorder(p, orders[k]).float() for k, p in net.params.items()}
        net.table, net.head, net.freq = net.table[:, h].float(), net.head[:, h].float(), net.freq.float()
        pages = [p.to(torch.float32) for p in s.pages()]
        for p in pages:
            p.hidden = p.hidden[:, h]
        restore = lambda tensors: {k: reorder(x, orders[k], True) for k, x in tensors.items()}
        loss, grad = gradients(net, pages, Objective(3))
        out[f"K3_{chain}"] = {"loss": digits(number_miss(s.j["objectives"][f"K3_{chain}"]["total"], float(loss["total"]))),
                              "gradient": digits(s.packed_miss(f"K3_{chain}.gradient", restore(grad)))}
        r = s.j["runs"][key]
        log, kept, _ = run(net, pages, Objective(3), Recipe(**r["recipe"]), r["batches"], s.marks(key))
        out[key] = {"losses": digits(max(number_miss(x["loss"], y["loss"]) for x, y in zip(r["log"], log))),
                    "grad_norms": digits(max(number_miss(x["grad_norm"], y["grad_norm"]) for x, y in zip(r["log"], log))),
                    **{f"step{t}": digits(s.packed_miss(f"{key}.step{t}", restore(w))) for t, w in kept.items()}}
    return out


def check_seed(seed=77):
    """The network against torch's TransformerEncoderLayer in evaluation mode, looped as in the notebook."""
    V, d, ff, D, T = 64, 8, 32, 3, 8
    params = start(V, d, ff, seed)
    layer = torch.nn.TransformerEncoderLayer(d, 4, ff, batch_first=True, dropout=0.1).double().eval()
    layer.load_state_dict({k.removeprefix("transformer."): v.double() for k, v in params.items() if k.startswith("transformer.")})
    tokens = torch.from_numpy(SplitMix(seed + 1).below(V, T))[None]
    P = {k: v.double() for k, v in params.items()}
    worst = 0.0
    for causal in (True, False):
        net = SeedNet(params, D, causal, False, torch.float64)
        logits, e = net.forward(tokens), P["embeddings.weight"][tokens]
        rms = lambda x: x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + 1e-8)
        for i in range(T - D - 1):
            h = e[:, i:i + 1]
            for k in range(D):
                y = layer(F.linear(torch.cat([rms(h), rms(e[:, i + k + 1:i + k + 2])], -1), P["projections.weight"], P["projections.bias"]))
                worst = max(worst, largest(F.linear(y, P["unembedding.weight"], P["unembedding.bias"])[:, 0] - logits[:, i, k]))
                h = y if causal else h
    net = SeedNet(params, D, True, False, torch.float64)
    _, _, _, grads = net.gradient(tokens)
    return {"logits_against_torch_encoder_layer": digits(worst), "finite_differences": directional(lambda: net.losses(tokens)[0], net.p, grads)}


def run_all(root, base):
    """All checks as one dictionary."""
    out = {f"glm/{f.name}": check_glm(root, Stored(f)) for f in sorted((base / "glm").iterdir())}
    full = next(s for s in map(Stored, sorted((base / "glm").iterdir())) if "adamw_u" in s.j["runs"])
    out["optimiser"] = check_optimiser(full)
    out["other_float32_order"] = check_other_float32(full)
    out.update({f"latent/{f.name}": check_latent(Stored(f)) for f in sorted((base / "latent").iterdir())})
    s = Stored(base / "residual")
    out["residual"] = {"finite_differences": {l: net_differences(residual_net(s), s.pages(), Objective(3, l)) for l in ("hard", "soft")},
                       "finite_differences_softcap": net_differences(residual_net(s, 6.0), s.pages(), Objective(3))}
    out["seed002"] = check_seed()
    return out
