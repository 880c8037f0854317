"""Discrimination: every deliberate mistake must miss some golden by far more than its tolerance. Reads the stored goldens."""
import json

import numpy as np
import torch
from ..common import write_json
from ..snapshots import load_weights
from safetensors.torch import load_file

from .losses import Objective, Page, gradients
from .nets import GlmLayer, LatentLayer, ResidualHeads
from .recipe import Recipe
from .seed_net import SeedNet
from .train import flat_rows, run

LAYER = {
    "label_is_input_token": "label t_{i+d+1}, the token that was fed (the leak)",
    "label_one_late": "label t_{i+d+3} (shifting already shifted labels)",
    "label_fixed_offset": "label t_{i+2} at every step",
    "token_shift_not_advanced": "every step is fed t_{i+1}",
    "first_row_missed": "loss starts at slot P instead of P-1",
    "last_row_missed": "last usable row of each step left out",
    "prompt_rows_in_loss": "loss over all slots",
    "one_divisor": "one divisor for all steps (mean of N_d)",
    "divisor_of_step0": "N_0 as divisor of every step",
    "divisor_all_slots": "divisor = all slots, prompt included (report's 1/T)",
    "mean_of_page_means": "mean over pages of page means",
    "alpha_uniform": "step weights 1/K",
    "alpha_eagle": "step weights 0.8^d normalised",
    "alpha_not_normalised": "step weights 0.6^d not normalised",
    "chain_detached": "no gradient through the chained vector",
    "other_chain_vector": "u chained instead of n",
    "chain_is_target_hidden": "later steps get the target's h_i again",
    "rope_not_advanced": "step d uses pos(i) instead of pos(i+d)",
    "rope_is_index": "later steps use the slot index as rope position",
    "rope_shifted_by_one": "slot i uses pos(i+1)",
    "later_steps_attend_step_d_rows": "step d reads step-d keys of earlier text rows (FastMTP's training attention)",
    "chain_keys_of_earlier_steps_missing": "step d reads step-0 keys and its own, not those of steps 1..d-1",
    "own_chain_keys_missing": "step d reads step-0 keys only",
    "chain_sees_own_slot_only": "later steps read only their own chain",
    "sees_step0_keys_up_to_i_plus_d": "step d reads step-0 keys up to slot i+d",
    "step0_keys_before_i_only": "step d reads step-0 keys of slots < i",
    "no_gradient_into_step0_keys": "keys and values of step 0 get no gradient from later steps",
    "prompt_keys_get_no_gradient": "prompt rows left out of the key/value gradients",
    "gqa_gradient_of_one_head": "key/value gradient of one query head per group",
    "softmax_without_delta": "softmax backward without the row term",
    "rotation_not_undone": "backward does not un-rotate q and k",
    "rms_factor_constant": "RMSNorm backward treats 1/rms as constant",
    "hidden_half_first": "hidden half first in eh_proj's input",
    "eps_1e-6": "RMSNorm epsilon 1e-6",
    "hidden_in_bf16": "recorded hidden vectors rounded to bfloat16",
}
OPTIMISER = {
    "head_trained_too": "lm_head among the trained tensors",
    "embedding_trained_too": "embedding table among the trained tensors",
    "decay_on_norms": "weight decay on norm weights",
    "decay_in_gradient": "decay added to the gradient (L2) instead of decoupled",
    "decay_not_times_lr": "decay times the peak rate instead of the current one",
    "no_bias_correction": "bias correction forgotten",
    "beta2_0.999": "beta2 0.999",
    "eps_inside_root": "epsilon inside the square root",
    "clip_per_tensor": "clip by the norm of each tensor",
    "clip_by_value": "clip by value",
    "no_clip": "no clip",
    "schedule_from_zero": "schedule evaluated at t-1 (first step with rate 0)",
    "no_warmup": "no warm-up",
    "gradient_of_pages_one_by_one": "pages' own mean losses averaged (gradient accumulation without the batch's N_d)",
    "master_in_bf16": "master weights rounded to bfloat16",
}
OTHER = {
    ("K3_mask", "masked_rows_counted"): "masked rows in N_d",
    ("K3_subset", "masked_rows_counted"): "rows outside the reduced head in N_d",
    ("K3_soft", "teacher_one_early"): "soft label of the token before",
    ("K3_soft", "teacher_not_renormalised"): "top-32 probabilities not renormalised",
    ("K3_soft", "kl_instead_of_ce"): "KL divergence reported as the loss (gradient equal)",
    ("K5_short", "alpha_over_present_steps"): "step weights renormalised over the steps that have rows",
    ("adamw_u", "decay_to_zero"): "decay towards zero instead of the starting weights",
}
RESIDUAL = {
    "label_one_late": "label t_{i+k+3} (offset k+2 on shifted labels)", "label_is_input_token": "label t_{i+k+1}",
    "chain_detached": "no gradient from head k+1 into head k", "every_head_from_h": "every head starts from h", "no_residual": "no residual sum",
    "norm_before_head": "a norm between g and the head", "residual_norm_missing": "RMSNorm left out", "eps_1e-6": "RMSNorm epsilon 1e-6",
    "alpha_uniform": "head weights 1/K", "prompt_rows_in_loss": "loss over all slots",
    "rms_factor_constant": "RMSNorm backward treats 1/rms as constant",
}
LATENT = {
    "other_pairing": "adjacent and half-split rotary pairs exchanged", "softmax_factor_missing": "M^2 missing in the softmax scale",
    "cos_sin_factor_missing": "factor m missing on cos and sin", "a_norm_eps_from_config": "config epsilon in q_a/kv_a norms",
    "rotary_key_gradient_of_one_head": "shared rotary key gets the gradient of one head",
    "latent_gradient_of_values_only": "latent gets no gradient through the keys",
    "rotation_not_undone": "backward does not un-rotate", "router_gets_no_gradient": "router without gradient although trained",
    "router_sum_constant": "normalising sum of the router weights treated as constant",
    "weights_from_biased_scores": "expert weights from the biased scores",
    "chain_detached": "no gradient through the chained vector", "other_chain_vector": "u chained instead of n",
    "no_gradient_into_step0_keys": "latents of step 0 get no gradient from later steps", "rope_not_advanced": "step d uses position i",
    "hidden_half_first": "hidden half first in eh_proj's input", "label_one_late": "label t_{i+d+3}",
}
SEED = {
    "chain_swapped": "causal and independent exchanged", "chain_detached": "no gradient through the chain",
    "embedding_half_first": "embedding half first",
    "seed_rule": "the seed's targets on the corrected positions",
}


class Stored:
    """A golden folder and its arrays."""

    def __init__(self, folder):
        self.dir = folder
        self.j = json.loads((folder / "golden.json").read_text())

    def load(self, file):
        return torch.from_numpy(np.load(self.dir / file))

    def pages(self):
        out = []
        for i, p in enumerate(self.j["pages"]):
            names = ("ids", "positions", "hidden", "teacher_ids", "teacher_logits", "teacher_lse", "label_mask")
            a = {k: self.load(f"page{i}.{k}.npy") for k in names}
            out.append(Page(p["name"], p["prompt"], a["ids"].long(), a["positions"].long(), a["hidden"].double(), a["teacher_ids"].long(),
                            a["teacher_logits"].double(), a["teacher_lse"].double(), a["label_mask"].bool()))
        return out

    def packed_miss(self, name, tensors):
        """Largest |difference| / atol over the parts."""
        entry = self.j["packed"][name]
        flat, worst = self.load(entry["file"]).double(), 0.0
        for p in entry["parts"]:
            n = int(np.prod(p["shape"]))
            d = (tensors[p["name"]].double().flatten() - flat[p["offset"]:p["offset"] + n]).abs()
            worst = max(worst, float(d.max()) / p["atol"], float((d ** 2).mean() ** 0.5) / p.get("rms_atol", 1e30))
        return worst

    def marks(self, key):
        """Steps of a run whose weights are stored."""
        return [int(k.rsplit("step", 1)[1]) for k in self.j["packed"] if k.startswith(key + ".step") and not k.endswith("f32")]

    def array_miss(self, name, x):
        e = self.j["arrays"][name]
        want = self.load(e["file"]).double()
        return float("inf") if want.shape != x.shape else float((x - want).abs().max()) / e["atol"]


def number_miss(entry, x):
    return abs(x - entry["value"]) / entry["atol"]


def objective_of(s, key):
    o = s.j["objectives"][key]
    subset = tuple(s.load(o["subset"]).tolist()) if o["subset"] else None
    return Objective(o["K"], o["labels"], subset, o["use_mask"])


def objective_miss(s, key, net, pages, bad):
    """Misses of loss, per-step losses, rows and gradient of one objective."""
    o = s.j["objectives"][key]
    loss, grad = gradients(net, pages, objective_of(s, key), bad)
    rows = flat_rows(loss, "ce")
    numbers = [(o["total"], loss["total"]), *zip(o["per_step"], loss["per_step"])]
    return {"loss": max(number_miss(a, float(b)) for a, b in numbers), "rows": s.array_miss(f"{key}.row_loss", rows),
            "gradient": s.packed_miss(f"{key}.gradient", grad)}


def run_miss(s, key, net, pages, bad):
    r = s.j["runs"][key]
    marks = s.marks(key)
    log, kept, _ = run(net, pages, Objective(r["K"], r["labels"]), Recipe(**r["recipe"]), r["batches"], marks, bad)
    out = {f"step{t}": s.packed_miss(f"{key}.step{t}", kept[t]) for t in marks}
    out["run_losses"] = max(number_miss(a["loss"], b["loss"]) for a, b in zip(r["log"], log))
    out["grad_norms"] = max(number_miss(a["grad_norm"], b["grad_norm"]) for a, b in zip(r["log"], log))
    return out


def glm_net(s, chain="n"):
    folder = (s.dir / s.j["snapshot"]).resolve()
    return GlmLayer(load_weights(folder), json.loads((folder / "config.json").read_text()), torch.float64, chain)


def head_tensors(s):
    prefix = s.j.get("prefix", "")
    w = load_file(str(s.dir / "heads.safetensors"))
    return {k: w[prefix + k] for k in s.j["tensors"] + s.j.get("frozen", [])}


def residual_net(s, cap=0.0):
    return ResidualHeads(load_weights((s.dir / s.j["snapshot"]).resolve()), head_tensors(s), s.j["rms_norm_eps"], torch.float64, cap)


def latent_net(s, chain="n"):
    folder = (s.dir / s.j["snapshot"]).resolve()
    config = {**json.loads((folder / "config.json").read_text()), "rms_norm_eps": s.j["rms_norm_eps"]}
    return LatentLayer(load_weights(folder), head_tensors(s), config, torch.float64, chain)


def tidy(r):
    return {k: ("shape" if not np.isfinite(v) else float(f"{v:.3g}")) for k, v in r.items()}


def short_page_miss(s, bad):
    """K = 5 on the shortest page alone: some steps have no row."""
    o, pages = s.j["short_page"], s.pages()
    loss, _ = gradients(glm_net(s), [pages[o["page"]]], Objective(o["K"]), bad)
    return {"loss": number_miss(o["total"], float(loss["total"]))}


def seed_misses(s):
    """Mistakes in the small network against its small goldens (variant causal.corrected)."""
    key = "causal.corrected"
    flat, params = s.load("init.npy"), {}
    for p in s.j["packed"]["init"]["parts"]:
        n = int(np.prod(p["shape"]))
        params[p["name"]] = flat[p["offset"]:p["offset"] + n].reshape(p["shape"])
    tokens, want, out = s.load("tokens.npy").long(), s.j["variants"][key], {}
    for m in (None, *SEED):
        net = SeedNet(params, s.j["depths"], True, False, torch.float64)
        bad = (m,)
        if m == "seed_rule":
            net.targets = lambda t, n: torch.stack([t[:, k + 1: k + 1 + n] for k in range(net.D)], 2)
        total, per, logits, grad = net.gradient(tokens, bad)
        r = {"loss": max([number_miss(want["total"], float(total))] + [number_miss(a, float(b)) for a, b in zip(want["per_depth"], per)]),
             "logits": s.array_miss(f"{key}.logits", logits), "gradient": s.packed_miss(f"{key}.gradient", grad)}
        out[str(m)] = {"meaning": SEED.get(m, "correct, float64"), **tidy(r)}
    return out


def export(base, write=True):
    """discrimination.json; returns {group: {mistake: misses}}."""
    table = {}
    glm = {f.name: Stored(f) for f in sorted((base / "glm").iterdir())}
    full = next(s for s in glm.values() if "adamw_u" in s.j["runs"])
    small = [s for s in glm.values() if s is not full]
    rows = table["glm_layer"] = {}
    for m in (None, *LAYER):
        bad, r = (m,) if m else (), {}
        for tag, s in [("", full)] + [(f"{t.dir.name}.", t) for t in small]:
            pages = s.pages()
            if m == "hidden_in_bf16":
                for p in pages:
                    p.hidden = p.hidden.bfloat16().double()
            got = objective_miss(s, "K3_n", glm_net(s), pages, bad)
            r.update({tag + k: v for k, v in got.items()})
        rows[str(m)] = {"meaning": LAYER.get(m, "correct, float64"), **tidy(r)}
    rows = table["optimiser"] = {}
    for m in (None, *OPTIMISER):
        r = run_miss(full, "adamw_n", glm_net(full), full.pages(), (m,) if m else ())
        rows[str(m)] = {"meaning": OPTIMISER.get(m, "correct, float64"), **tidy(r)}
    rows = table["variants"] = {}
    for (key, m), text in OTHER.items():
        if key not in (*full.j["objectives"], *full.j["runs"], "K5_short"):
            continue
        for bad in ((), (m,)):
            if key == "K5_short":
                r = short_page_miss(full, bad)
            elif key == "adamw_u":
                r = run_miss(full, key, glm_net(full, "u"), full.pages(), bad)
            else:
                r = objective_miss(full, key, glm_net(full), full.pages(), bad)
            rows[f"{key}: {bad[0] if bad else 'None'}"] = {"meaning": text if bad else "correct, float64", **tidy(r)}
    rows = table["residual_heads"] = {}
    s = Stored(base / "residual")
    for m in (None, *RESIDUAL):
        r = objective_miss(s, "hard", residual_net(s), s.pages(), (m,) if m else ())
        rows[str(m)] = {"meaning": RESIDUAL.get(m, "correct, float64"), **tidy(r)}
    rows = table["latent_layer"] = {}
    latent = [Stored(f) for f in sorted((base / "latent").iterdir())]
    for m in (None, *LATENT):
        r = {}
        for s in latent:
            r.update({f"{s.dir.name}.{k}": v for k, v in objective_miss(s, "K3_n", latent_net(s), s.pages(), (m,) if m else ()).items()})
        rows[str(m)] = {"meaning": LATENT.get(m, "correct, float64"), **tidy(r)}
    table["seed002"] = seed_misses(Stored(base / "seed002" / "shapes"))
    if write:
        unit = ("largest |difference| / atol (weights and gradients: the worse of maximum / atol and root mean square / rms_atol); "
                "'shape' = other number of rows")
        write_json(base / "discrimination.json", {"unit": unit, "mistakes": table})
    return table


def summary(table):
    """Markdown rows: strongest and which."""
    out = []
    for group, rows in table.items():
        for m, r in rows.items():
            v = {k: (float("inf") if x == "shape" else x) for k, x in r.items() if k != "meaning"}
            best = max(v, key=v.get)
            finite = {k: x for k, x in v.items() if np.isfinite(x)}
            top = max(finite, key=finite.get)
            out.append((group, m, r["meaning"], top, finite[top], not np.isfinite(v[best])))
    return out
