"""Training goldens of the second decoder family: residual heads, and the DeepSeek-form layer over MLA (dense and MoE)."""
import json
import shutil

import torch
from ..snapshots import load_weights
from safetensors.torch import save_file

from .losses import Objective, gradients
from .nets import LatentLayer, ResidualHeads
from .packed import Folder, digits
from .pages import text_pages
from .recipe import Recipe
from .train import add_objective, add_pages, add_run, batch_order, disturb

RUN_HEADS = Recipe(peak=4e-3, decay=0.02, decay_to="zero", clip=1.5, eps=1e-5, beta2=0.99, warmup=4)
RUN_LATENT = Recipe(steps=10, peak=2e-3, decay=0.1, decay_to="zero", clip=3.0, eps=1e-5, warmup=2)


def random_tensors(shapes, seed):
    """Norms 1 +- 0.2, matrices of about unit gain, vectors normal(0, 0.2)."""
    g = torch.Generator().manual_seed(seed)
    out = {}
    for name, shape in shapes.items():
        r = torch.randn(shape, generator=g)
        if len(shape) == 1 and "norm" in name:
            out[name] = 1 + 0.2 * (2 * torch.rand(shape, generator=g) - 1)
        elif len(shape) == 1:
            out[name] = 0.2 * r - 1.0        # correction bias: mostly negative biased scores
        else:
            out[name] = r * (1.2 / shape[-1] ** 0.5)
    return out


def head_shapes(count, hidden, inner):
    out = {}
    for k in range(count):
        p = f"mtp_layers.{k}."
        out.update({p + "norm.weight": (hidden,), p + "gate_proj.weight": (inner, hidden), p + "up_proj.weight": (inner, hidden),
                    p + "down_proj.weight": (hidden, inner)})
    return out


def layer_shapes(c, moe):
    D, H, dn, dr, dv = (c[k] for k in ("hidden_size", "num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
    rq, rk = c["q_lora_rank"], c["kv_lora_rank"]
    out = {"enorm.weight": (D,), "hnorm.weight": (D,), "eh_proj.weight": (D, 2 * D), "input_layernorm.weight": (D,),
           "self_attn.q_a_proj.weight": (rq, D), "self_attn.q_a_layernorm.weight": (rq,), "self_attn.q_b_proj.weight": (H * (dn + dr), rq),
           "self_attn.kv_a_proj_with_mqa.weight": (rk + dr, D), "self_attn.kv_a_layernorm.weight": (rk,),
           "self_attn.kv_b_proj.weight": (H * (dn + dv), rk), "self_attn.o_proj.weight": (D, H * dv), "post_attention_layernorm.weight": (D,)}

    def mlp(p, inner):
        out.update({p + "gate_proj.weight": (inner, D), p + "up_proj.weight": (inner, D), p + "down_proj.weight": (D, inner)})

    if moe:
        out["mlp.gate.weight"] = (c["n_routed_experts"], D)
        out["mlp.gate.e_score_correction_bias"] = (c["n_routed_experts"],)
        for e in range(c["n_routed_experts"]):
            mlp(f"mlp.experts.{e}.", c["moe_intermediate_size"])
        mlp("mlp.shared_experts.", c["moe_intermediate_size"] * c["n_shared_experts"])
    else:
        mlp("mlp.", c["intermediate_size"])
    out["shared_head.norm.weight"] = (D,)
    return out


def store(folder, params, prefix):
    """The heads' starting weights under their checkpoint names."""
    save_file({prefix + k: v.contiguous() for k, v in params.items()}, str(folder.path / "heads.safetensors"))


def export_residual(root, out, snapshot, jobs, seed, heads=3, inner=28, softcap=6.0, marks=(1, 10, 50),
                    exact=torch.float64, relative="../../minillm"):
    """K residual heads on the hidden vectors of a minillm golden; also with a soft-cap on the logits."""
    shutil.rmtree(out, ignore_errors=True)
    src = root / "minillm" / snapshot
    config, weights = json.loads((src / "config.json").read_text()), load_weights(src)
    pages = text_pages(src, jobs, seed)
    params = random_tensors(head_shapes(heads, config["hidden_size"], inner), seed + 1)
    make = lambda t, cap=0.0: ResidualHeads(weights, params, config["rms_norm_eps"], t, cap)
    nets = lambda cap=0.0: (make(torch.float64, cap), make(torch.float32, cap), disturb(make(torch.float64, cap)))
    folder = Folder(out, snapshot=f"{relative}/{snapshot}", heads="heads.safetensors", tensors=list(params), rms_norm_eps=config["rms_norm_eps"])
    store(folder, params, "")
    add_pages(folder, pages)
    add_objective(folder, "hard", nets, pages, Objective(heads), exact, logits=True, vectors=True)
    add_objective(folder, "soft", nets, pages, Objective(heads, "soft"))
    add_objective(folder, "softcap", lambda: nets(softcap), pages, Objective(heads), note=f"logits = {softcap} tanh(logits / {softcap})")
    folder.meta["objectives"]["softcap"]["softcap"] = softcap
    last = marks[-1:] if exact == torch.float64 else ()
    add_run(folder, "adamw", nets, pages, Objective(heads), RUN_HEADS, batch_order(len(pages), 50, seed + 2), marks, last, last)
    folder.save()


def export_latent(root, out, snapshot, moe, jobs, seed, eps=1e-4, exact=torch.float64, train=True, relative="../../../minillm"):
    """DeepSeek-form layer with random weights on top of a minillm golden."""
    shutil.rmtree(out, ignore_errors=True)
    src = root / "minillm" / snapshot
    config, weights = json.loads((src / "config.json").read_text()), load_weights(src)
    config = {**config, "rms_norm_eps": eps}
    pages = text_pages(src, jobs, seed)
    params = random_tensors(layer_shapes(config, moe), seed + 1)
    make = lambda t, chain="n": LatentLayer(weights, params, config, t, chain)
    nets = lambda chain="n": (make(torch.float64, chain), make(torch.float32, chain), disturb(make(torch.float64, chain)))
    prefix = f"model.layers.{config['num_hidden_layers']}."
    probe = nets()[0]
    trained = list(probe.trained())
    folder = Folder(out, snapshot=f"{relative}/{snapshot}", heads="heads.safetensors", prefix=prefix, tensors=trained,
                    frozen=["mlp.gate.e_score_correction_bias"] if moe else [], rms_norm_eps=eps, latent_norm_eps=1e-6,
                    rope={"inv_freq": [float(x) for x in probe.freq], "cos_sin_factor": probe.m, "softmax_scale": probe.scale,
                          "pairs": "adjacent" if probe.adjacent else "half-split"})
    store(folder, params, prefix)
    add_pages(folder, pages)
    add_objective(folder, "K3_n", nets, pages, Objective(3), exact, logits=True, vectors=True)
    if not moe:
        add_objective(folder, "K3_u", lambda: nets("u"), pages, Objective(3))
    if moe:
        net, p64 = nets()[0], [p.to(torch.float64) for p in pages]
        for p in p64:
            net.steps(p, 3)
        margin = digits(net.margin)
        _, grad = gradients(net, p64, Objective(3), ("router_frozen",))
        norm = sum(float((g ** 2).sum()) for g in grad.values()) ** 0.5
        rule = ("mlp.gate.weight is trained through the weights of the chosen experts; the choice itself and the correction bias carry no "
                "gradient; no auxiliary loss")
        folder.meta["router"] = {"gradient": rule, "smallest_choice_margin": margin, "grad_norm_with_frozen_router": norm}
    if train:
        add_run(folder, "adamw", nets, pages, Objective(3), RUN_LATENT, batch_order(len(pages), 10, seed + 2), (10,))
    folder.save()
