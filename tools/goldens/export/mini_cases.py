"""Goldens of the second family that transformers has no class for: seed form, residual heads, simple DSA, DeepSeek MTP layer, hybrid
with GLM-OCR's vision tower, ChatML, long positions. Arrays are float64 results of mini_ref rounded to float32."""
import json
import math
import random
import shutil

import numpy as np
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from tokenizers.decoders import DecodeStream
from transformers import AutoProcessor, AutoTokenizer

from . import mini_build as B
from . import mini_hf as H
from . import mini_ref as R
from . import mini_toy as T
from . import reference, snapshots, tokenizer_build
from .common import Case, error, seed_all, tolerance, write_json
from .independent import Net
from .mini_loops import Loops
from .tokens import PIECES, TEXTS

F32 = torch.float32
NEW = 24
HEADS = {**B.BASE, "vocab_size": 40, "hidden_size": 48, "num_hidden_layers": 2, "n_routed_experts": 4, "num_experts_per_tok": 2,
         "moe_intermediate_size": 24, "first_k_dense_replace": 1, "num_nextn_predict_layers": 3, "logit_softcap": 20.0, "qk_rope_head_dim": 12,
         "rope_scaling": {**B.YARN, "mscale": 1.0, "mscale_all_dim": 0.0}}
PLAIN = {
    "mini-softmax": dict(seed=401, hf=True, far=True, config={
        **B.BASE, "num_hidden_layers": 5, "first_k_dense_replace": 1, "moe_layer_freq": 2, "attention_bias": True, "logit_softcap": 6.0,
        "rms_norm_eps": 1e-3, "routed_scaling_factor": 1.4, "rope_scaling": {**B.YARN, "mscale": 0.707, "mscale_all_dim": 1.0}}),
    "mini-softmax-raw": dict(seed=402, tries=250, dtype="bfloat16", names={"hf": True, "stacked": True}, config={
        **B.BASE, "norm_topk_prob": False, "n_group": 4, "topk_group": 2, "q_lora_rank": 0, "tie_word_embeddings": False, "n_shared_experts": 2,
        "rope_theta": 500.0, "max_position_embeddings": 4096, "routed_scaling_factor": 2.0}),
    "mini-sigmoid": dict(seed=403, twins={0: (1, 2), 1: (3, 5), 2: (0, 1)}, config={
        **B.BASE, "scoring_func": "sigmoid", "n_routed_experts": 9, "n_group": 3, "topk_group": 2, "norm_topk_prob": False, "n_shared_experts": 0,
        "hidden_act": "relu2", "residual_scale": 0.8, "residual_decay": 0.15, "max_position_embeddings": 4096, "routed_scaling_factor": 1.7,
        "rope_scaling": {"type": "linear", "factor": 4.0}}),
    "mini-tables": dict(seed=404, dtype="bfloat16", tables=96, config={
        **B.BASE, "num_hidden_layers": 2, "use_moe": False, "n_routed_experts": None, "n_shared_experts": 0, "max_position_embeddings": 96,
        "rope_scaling": {**B.YARN, "original_max_position_embeddings": 4096, "mscale": 1.0, "mscale_all_dim": 0.0}}),
    "mini-defaults": dict(seed=405, dtype="bfloat16", length=16, no_loops=True, config=dict(
        architectures=["MiniLLMForCausalLM"], model_type="minillm", vocab_size=101, hidden_size=64, num_hidden_layers=1, num_attention_heads=2,
        use_moe=True, inference_rope_scaling=True, n_shared_experts=1)),
    "v3-freq": dict(seed=406, hf=True, config={**B.DEEP, "num_hidden_layers": 5, "moe_layer_freq": 2, "hidden_size": 40}),
}
CASES = {
    **{k: ("plain", v) for k, v in PLAIN.items()},
    "mini-heads": ("heads", dict(seed=411, symbols=32, steps=280, late_steps=160, count=48, config=HEADS)),
    "mini-dsa": ("dsa", dict(seed=421, config={
        **B.BASE, "index_n_heads": 2, "index_topk": 6, "max_position_embeddings": 4096, "num_hidden_layers": 2, "n_routed_experts": 4,
        "num_experts_per_tok": 2, "rope_scaling": {**B.YARN, "mscale": 1.0, "mscale_all_dim": 0.0}})),
    "v3-mtp": ("deep", dict(seed=431, symbols=32, steps=260, count=48, config={
        **B.DEEP, "vocab_size": 40, "hidden_size": 48, "num_hidden_layers": 2, "num_nextn_predict_layers": 1, "n_group": 2, "topk_group": 1,
        "num_experts_per_tok": 2, "moe_intermediate_size": 24})),
    "mini-hybrid": ("hybrid", dict(seed=441, tokenizer_from="tiny-a", cases=[
        ("exif6", ["exif6.jpg"], "Text Recognition:"), ("two_images", ["tiny20.png", "exif6.jpg"], "Table Recognition:"),
        ("text_only", [], "the quick brown fox: 12.5%")], spec=snapshots.Spec(
            "mini-hybrid", seed=442, hidden=48, heads=4, kv_heads=2, head_dim=16, mrope=(2, 3, 3), inter=80, layers=1, v_hidden=48, v_heads=3,
            v_inter=80, v_depth=2), config={
        **B.BASE, "num_hidden_layers": 2, "n_routed_experts": 4, "num_experts_per_tok": 2, "first_k_dense_replace": 1, "num_nextn_predict_layers": 2,
        "rope_scaling": {**B.YARN, "mscale": 1.0, "mscale_all_dim": 1.0}})),
    "mini-chat": ("chat", dict(seed=451, merged=180, prompts=("user only", "own system line", "three turns"), config={
        **B.BASE, "num_hidden_layers": 2, "n_routed_experts": 4, "num_experts_per_tok": 2, "max_position_embeddings": 4096})),
    "mini-long": ("long", dict(seed=461, length=9000, config={
        **B.BASE, "num_hidden_layers": 2, "use_moe": False, "n_routed_experts": None, "n_shared_experts": 0, "tie_word_embeddings": False,
        "max_position_embeddings": 16384, "rope_scaling": {**B.YARN, "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 0.707}})),
}


def put(case, key, x64, x32, note=None):
    e = error(x32, x64)
    case.add(key, x64, atol=tolerance(e, x64.abs().max()), error_f64=e, note=note)
    return e["max_abs"]


def short(x):
    return float(f"{float(x):.4g}")


def selected_ids(sel, k):
    """Boolean selection [T,N] -> ascending key ids [T,k], -1 behind."""
    rows = [torch.nonzero(r)[:, 0][:k].tolist() for r in sel]
    return torch.tensor([r + [-1] * (k - len(r)) for r in rows], dtype=torch.int32)


def put_stages(case, a, b, prefix="", skip=()):
    """Stages of the float64 run `a` with the float32 run `b` as error measure; margins and choices are checked and noted."""
    margins = {}
    for k, v in a.items():
        if k in skip:
            continue
        if "margin" in k:
            margins[k.replace("_margin", "")] = short(v)
        elif k.endswith(".experts"):
            assert torch.equal(v, b[k]), k
            case.add(prefix + k, v.to(torch.int32), note="chosen experts of each row, ascending id")
        elif k.endswith(".selected"):
            assert torch.equal(v, b[k]), k
            n = int(v.sum(-1).max())
            case.add(prefix + k.replace(".selected", ".topk"), selected_ids(v, n), note="kept keys of each row, ascending id, -1 behind")
        else:
            put(case, prefix + k, v, b[k], "weights of those experts, scaled" if k.endswith(".weights") else None)
    if margins:
        case.meta.setdefault("margins", {})[prefix.rstrip(".") or "prompt"] = margins
    return margins


def lowest(st):
    return min([float(v) for k, v in st.items() if "margin" in k] or [math.inf])


def pick(folder, vocab, length, seed, modes=("off",), tries=40, low=3, distinct=False):
    """Token ids whose router (and indexer) decisions are farthest from a tie."""
    best, g = (-1.0, None), torch.Generator().manual_seed(seed)
    nets = [R.Mini(folder, dsa=m) for m in modes]
    for _ in range(tries):
        ids = low + torch.randperm(vocab - low, generator=g)[:length] if distinct else torch.randint(low, vocab, (length,), generator=g)
        m = min(lowest(n.forward(ids)) for n in nets)
        if not math.isfinite(m):
            m = 1.0
        if m > best[0]:
            for net in nets:
                toks, z, r = R.greedy(net, ids, NEW)
                m = min(m, R.top2(z), r) * (1.0 if len(set(toks)) > 7 else 0.05)
            best = max(best, (m, ids), key=lambda x: x[0])
            if m > 4e-3:
                break
    return best[1]


def facts(net):
    """What an engine should derive from the config."""
    c = net.c
    return {"rope": {"pairing": "adjacent" if c["adjacent"] else "half-split", "inv_freq": [float(f"{x:.10g}") for x in net.freq],
                     "cos_sin_factor": net.m, "softmax_scale": net.scale},
            "rms_eps": {"q_a_and_kv_a_layernorm": net.eps_a, "others": net.eps},
            "widths": {k: c[k] for k in ("intermediate_size", "moe_intermediate_size", "mtp_intermediate_size", "q_lora_rank", "n_routed_experts")},
            "moe_layers": [i for i in range(c["num_hidden_layers"]) if net.is_moe(i)]}


def checks(folder, ids, st, second):
    """Largest float64 differences of equivalent ways to compute the logits."""
    out, net = {}, R.Mini(folder)
    out["absorbed_vs_expanded"] = short((R.Mini(folder, form="absorbed").forward(ids)["logits"] - st["logits"]).abs().max())
    for name, step in (("one_token_steps", 1), ("steps_of_five", 5)):
        cache, rows = R.Cache(), []
        for i in range(0, len(ids), step):
            rows.append(net.head(net.rows(net.embed(ids[i:i + step])[None], cache)[1])[0])
        out[name] = short((torch.cat(rows) - st["logits"]).abs().max())
    if second:
        lp = Loops(folder)
        rows = [lp.step(int(t)) for t in ids]
        out["second_formulation"] = short(np.abs(np.stack([r[0] for r in rows]) - st["logits"].numpy()).max())
        for k, (_, z) in enumerate(net.heads(net.rows(net.embed(ids)[None], R.Cache())[1], len(rows[0][1]))):
            e = short(np.abs(np.stack([r[1][k] for r in rows]) - z[0].numpy()).max())
            out["second_formulation_heads"] = max(out.get("second_formulation_heads", 0.0), e)
    assert all(v < 5e-12 for v in out.values()), out
    return out


def greedy_meta(folder, ids, dsa="off", embeds=None, stop=None):
    """Plain greedy tokens in float64, checked in float32."""
    a, b = R.Mini(folder, dsa=dsa), R.Mini(folder, F32, dsa=dsa)
    toks, z, r = R.greedy(a, ids, NEW, embeds=embeds)
    t32, z32, _ = R.greedy(b, ids, NEW, embeds=None if embeds is None else embeds.float())
    assert toks == t32, "float32 picks other tokens"
    m = {"tokens": toks, "ignore_stop_ids": True, "min_margin": R.top2(z), "max_logit_error_f32_vs_f64": error(z32, z)["max_abs"]}
    if math.isfinite(r):
        m["router_margin"] = short(r)
    return m


def export_plain(root, name, s):
    """A forward case of the seed's or the DeepSeek form."""
    out = root / "minillm" / name
    shutil.rmtree(out, ignore_errors=True)
    raw = s["config"]
    w = B.random_weights(raw, s["seed"])
    extra = {}
    for i, (a, b) in s.get("twins", {}).items():
        w[f"layers.{i}.mlp.gate.weight"][b] = w[f"layers.{i}.mlp.gate.weight"][a]
    if s.get("tables"):
        # rotary tables as a training run leaves them: rounded to bfloat16, then moved a little; aux_loss and a copy of the tied table
        net = R.Mini(config=raw, weights=w)
        cos, sin = net.tables(torch.arange(s["tables"]))
        g = torch.Generator().manual_seed(s["seed"])
        move = lambda x: (x + 0.02 * torch.randn(x.shape, generator=g)).bfloat16()
        w["freqs_cos"], w["freqs_sin"] = move(cos), move(sin)
        extra = {f"model.layers.{i}.mlp.aux_loss": torch.zeros(()) for i in range(raw["num_hidden_layers"])}
        extra["lm_head.weight"] = w["embed_tokens.weight"].to(getattr(torch, s.get("dtype", "float32"))).clone()
    B.save(out, raw, w, s.get("dtype", "float32"), extra, **s.get("names", {}))
    net = R.Mini(out)
    ids = pick(out, raw["vocab_size"], s.get("length", 24), s["seed"] + 1, tries=s.get("tries", 40))
    st, st32 = net.forward(ids), R.Mini(out, F32).forward(ids)
    case = Case(out, kind="plain", config="config.json", weights="model.safetensors", length=len(ids), tokens=ids.tolist(), **facts(net))
    case.add("input_ids", ids)
    cos, sin = net.tables(torch.arange(len(ids)))
    c32, s32 = R.Mini(out, F32).tables(torch.arange(len(ids)))
    put(case, "rope_cos", cos, c32)
    put(case, "rope_sin", sin, s32)
    margins = put_stages(case, st, st32, skip=("latent_key0",) if net.c["adjacent"] else ())
    if s.get("twins"):
        case.meta["equal_experts"] = {str(i): list(v) for i, v in s["twins"].items()}
    case.meta["checks"] = checks(out, ids, st, not net.c["deepseek"] and not s.get("names") and not s.get("no_loops"))
    if s.get("hf"):
        e = error(net.cap(H.logits(out, ids)), st["logits"])["max_abs"]
        assert e <= 20 * error(st32["logits"], st["logits"])["max_abs"], e
        case.meta["checks"]["transformers_f32"] = e
    if s.get("far"):
        for key, pos, note in (("logits_at_position_9000", torch.arange(9000, 9000 + len(ids)), "same tokens, positions 9000.."),
                               ("logits_with_jump", torch.cat([torch.arange(12), torch.arange(7000, 7000 + len(ids) - 12)]),
                                "positions 0..11, then 7000..: long distances, plain causal mask")):
            put(case, key, net.forward(ids, pos)["logits"], R.Mini(out, F32).forward(ids, pos)["logits"], note)
    if raw.get("num_nextn_predict_layers", 1) and not net.c["deepseek"]:
        put_heads(case, out, ids)
    case.meta["greedy"] = greedy_meta(out, ids)
    case.save()
    return {"kind": "plain", "logit_error_f32_vs_f64": error(st32["logits"], st["logits"])["max_abs"], "greedy": case.meta["greedy"],
            "checks": case.meta["checks"], "margins": margins}


def put_heads(case, folder, ids, embeds=None, last=None):
    """g and logits of every residual head."""
    a, b = R.Mini(folder), R.Mini(folder, F32)
    x = a.embed(ids) if embeds is None else embeds
    ha = a.heads(a.rows(x[None], R.Cache())[1])
    hb = b.heads(b.rows(x.float()[None] if embeds is not None else b.embed(ids)[None], R.Cache())[1])
    for k, ((g, z), (g2, z2)) in enumerate(zip(ha, hb)):
        n = last or z.shape[1]
        put(case, f"head{k}.hidden", g[0, -n:], g2[0, -n:], "h plus the first k+1 residual branches; this vector feeds the shared head")
        put(case, f"head{k}.logits", z[0, -n:], z2[0, -n:], "row i guesses token i+2+k")


def trace(folder, ids, speculate, ks, count, plain, embeds=None):
    """Speculative runs in float64, rounds equal in float32; also a length limit and a stop id inside an accepted run."""
    runs = {}

    def one(label, k, n, stop=()):
        args = dict(embeds=embeds) if embeds is not None else {}
        toks, rounds = speculate(R.Mini(folder), ids, k, n, stop, **args)
        args = dict(embeds=embeds.float()) if embeds is not None else {}
        t32, r32 = speculate(R.Mini(folder, F32), ids, k, n, stop, **args)
        strip = lambda rs: [{a: b for a, b in r.items() if "margin" not in a} for r in rs]
        assert toks == t32 and strip(rounds) == strip(r32), "float32 rounds differ"
        want = plain[:n]
        if stop:
            want = want[:next((i for i, t in enumerate(want) if t in stop), len(want) - 1) + 1]
        assert toks == want, "speculation changed the output"
        acc = [r["accepted"] for r in rounds]
        runs[label] = {"k": k, "max_new_tokens": n, "stop_ids": list(stop), "tokens": toks, "n_rounds": len(rounds),
                       "accepted_histogram": [acc.count(i) for i in range(k + 1)], "rounds": rounds}
        return rounds

    for k in ks:
        rounds = one(f"k{k}", k, count)
    k, pos = ks[-1], 1
    limit = stop = None
    for r in rounds:
        if r["accepted"] >= 2 and limit is None:
            limit = pos + 1
        tok = plain[pos + 1] if pos + 1 < len(plain) else None
        if r["accepted"] >= 2 and stop is None and pos > 3 and tok is not None and plain.index(tok) == pos + 1:
            stop = tok
        pos += r["accepted"] + 1
    if limit:
        one(f"k{k}.limit", k, limit)
    if stop is not None:
        one(f"k{k}.stop", k, count, (stop,))
    return runs


def scan(net, lines, heads):
    """Agreement of head k at row i with token i+j, j = 1..6."""
    agree, total, near = [[0] * 6 for _ in range(heads)], 0, 0
    for ids in lines:
        x = torch.tensor(ids)
        h = net.rows(net.embed(x)[None], R.Cache())[1]
        n = len(ids) - 6
        total += n
        for k, (_, z) in enumerate(net.heads(h)):
            top = z[0, :n].topk(2, -1)
            near += int(((top.values[:, 0] - top.values[:, 1]) < 1e-3).sum())
            for j in range(1, 7):
                agree[k][j - 1] += int((top.indices[:, 0] == x[j:j + n]).sum())
    return {"rows": total, "agreement": agree, "best_offset": [a.index(max(a)) + 1 for a in agree], "rows_with_margin_below_1e-3": near}


def export_heads(root, name, s):
    """Trunk and heads trained on the toy language: `name`, the same trunk with random heads, and with heads trained one position late."""
    raw, seed = s["config"], s["seed"]
    n_heads, toy = raw["num_nextn_predict_layers"], T.Toy(s["symbols"], seed)
    w, history = T.train(raw, B.random_weights(raw, seed, 0.6), toy, s["steps"], lambda k: True, seed + 1)
    fresh = {k: v for k, v in B.random_weights(raw, seed + 7, 1.0).items() if k.startswith("mtp_layers.")}
    variants = {"": (w, history), "-random": ({**w, **fresh}, None)}
    if s.get("late", True):
        start = {k: v for k, v in B.random_weights(raw, seed + 9, 0.6).items() if k.startswith("mtp_layers.")}
        variants["-late"] = T.train(raw, {**w, **start}, toy, s["late_steps"], lambda k: k.startswith("mtp_layers."), seed + 2, shift=3)
    g = torch.Generator().manual_seed(seed + 3)
    lines = [toy.line(160, g) for _ in range(7)]
    summary, prompts, first = {}, None, True
    for suffix, (weights, hist) in variants.items():
        out = root / "minillm" / (name + suffix)
        shutil.rmtree(out, ignore_errors=True)
        B.save(out, raw, weights, s.get("dtype", "bfloat16"))
        net = R.Mini(out)
        if prompts is None:
            scored = []
            for j in range(24):
                ids = torch.tensor(toy.line(18 + j % 7, g))
                m = lowest(net.forward(ids))
                toks, z, r = R.greedy(net, ids, s["count"])
                _, rounds = R.speculate_heads(net, ids, n_heads, s["count"])
                acc = [x["accepted"] for x in rounds]
                low = min(m, r, R.top2(z), min(x["min_draft_margin"] for x in rounds))
                scored.append((min(low, 2e-3), len(set(acc)), -abs(sum(acc) / len(acc) - 1.6), j, ids))
            scored.sort(key=lambda x: x[:4], reverse=True)
            prompts = [x[-1] for x in scored[:2]]
        ids = prompts[0]
        st, st32 = net.forward(ids), R.Mini(out, F32).forward(ids)
        case = Case(out, kind="heads", config="config.json", weights="model.safetensors", length=len(ids), tokens=ids.tolist(), **facts(net),
                    heads=n_heads)
        if hist:
            case.meta["training"] = {"steps, main loss, head loss": hist[-1], "labels": "t(i+k+3): one late" if suffix == "-late" else "t(i+k+2)"}
        case.add("input_ids", ids)
        if first:
            put_stages(case, st, st32)
        else:
            put(case, "logits", st["logits"], st32["logits"])
        put_heads(case, out, ids)
        case.meta["checks"] = checks(out, ids, st, True)
        case.meta["greedy"] = greedy_meta(out, ids)
        traces = {}
        for p, x in enumerate(prompts):
            plain, _, _ = R.greedy(net, x, s["count"])
            for label, run in trace(out, x, R.speculate_heads, range(1, n_heads + 1), s["count"], plain).items():
                traces[f"prompt{p}.{label}"] = {"prompt": x.tolist(), **run}
        write_json(out / "speculative.json", traces)
        if suffix != "-random":
            case.add("scan_tokens", torch.tensor(lines, dtype=torch.int32), note="lines of the toy language for the offset scan")
            case.meta["offset_scan"] = scan(net, lines, n_heads)
        case.save()
        summary[name + suffix] = {"kind": "heads", "logit_error_f32_vs_f64": error(st32["logits"], st["logits"])["max_abs"], "greedy": case.meta["greedy"],
                                  "checks": case.meta["checks"], "rounds": {k: v["accepted_histogram"] for k, v in traces.items()},
                                  "offset_scan": case.meta.get("offset_scan", {}).get("best_offset")}
        first = False
    return summary


MODES = ("off", "causal_topk", "seed_compat")


def export_dsa(root, name, s):
    """One model in the three modes of the simple DSA, plus a prompt short enough to switch it off."""
    out, raw = root / "minillm" / name, s["config"]
    shutil.rmtree(out, ignore_errors=True)
    B.save(out, raw, B.random_weights(raw, s["seed"]), s.get("dtype", "float32"))
    ids = pick(out, raw["vocab_size"], s.get("length", 24), s["seed"] + 1, MODES, 60, distinct=True)
    net = R.Mini(out)
    case = Case(out, kind="dsa", config="config.json", weights="model.safetensors", length=len(ids), tokens=ids.tolist(), **facts(net),
                modes=list(MODES), greedy={}, short_tokens=ids[:raw["index_topk"]].tolist())
    case.add("input_ids", ids)
    for m in MODES:
        st, st32 = R.Mini(out, dsa=m).forward(ids), R.Mini(out, F32, dsa=m).forward(ids)
        put_stages(case, st, st32, m + ".", skip=[k for k in st if k.startswith(("latent", "router", "shared")) and "margin" not in k])
        case.meta["greedy"][m] = greedy_meta(out, ids, m)
        if m == "seed_compat":
            case.meta["rows_without_past_key"] = {str(i): [t for t, r in enumerate(st[f"indexer{i}.selected"]) if not r[:t + 1].any()]
                                                  for i in range(raw["num_hidden_layers"])}
        short_ids = ids[:raw["index_topk"]]
        z = R.Mini(out, dsa=m).forward(short_ids)["logits"]
        assert torch.equal(z, net.forward(short_ids)["logits"]) or float((z - net.forward(short_ids)["logits"]).abs().max()) < 1e-12
        if m == "off":
            put(case, "short.logits", z, R.Mini(out, F32).forward(short_ids)["logits"], "index_topk tokens: the same in every mode")
    # repeated tokens: equal index scores in layer 0, the lowest key index is kept
    g = torch.Generator().manual_seed(s["seed"] + 4)
    ties = max((ids[torch.randint(4, (len(ids),), generator=g)] for _ in range(30)),
               key=lambda x: min(lowest(R.Mini(out, dsa=m).forward(x)) for m in MODES[1:]))
    case.add("ties.input_ids", ties, note="four different tokens only")
    for m in MODES[1:]:
        st, st32 = R.Mini(out, dsa=m).forward(ties), R.Mini(out, F32, dsa=m).forward(ties)
        put_stages(case, st, st32, f"ties.{m}.", skip=[k for k in st if not k.startswith(("index", "attn", "logits"))])
    a = R.Mini(out, dsa="causal_topk")
    cache, rows = R.Cache(), []
    for t in ids:
        rows.append(a.head(a.rows(a.embed([int(t)])[None], cache)[1])[0])
    case.meta["checks"] = {"causal_topk_one_token_steps": short((torch.cat(rows) - a.forward(ids)["logits"]).abs().max()),
                           "causal_topk_absorbed": short((R.Mini(out, form="absorbed", dsa="causal_topk").forward(ids)["logits"] - a.forward(ids)["logits"]).abs().max())}
    assert max(case.meta["checks"].values()) < 5e-12
    case.save()
    return {name: {"kind": "dsa", "greedy": case.meta["greedy"], "checks": case.meta["checks"], "rows_without_past_key": case.meta["rows_without_past_key"]}}


def export_deep(root, name, s):
    """DeepSeek form with an MTP layer, trained on the toy language; compared with transformers' MtpModel and generate(use_mtp=True)."""
    out, raw, seed = root / "minillm" / name, s["config"], s["seed"]
    shutil.rmtree(out, ignore_errors=True)
    toy = T.Toy(s["symbols"], seed)
    w, hist = T.train(raw, B.random_weights(raw, seed, 0.6), toy, s["steps"], lambda k: True, seed + 1)
    i, g = raw["num_hidden_layers"], torch.Generator().manual_seed(seed + 5)
    noise = lambda x: x + 0.05 * x.std() * torch.randn(x.shape, generator=g)
    w[f"layers.{i}.embed_tokens.weight"], w[f"layers.{i}.shared_head.head.weight"] = noise(w["embed_tokens.weight"]), noise(w["lm_head.weight"])
    B.save(out, raw, w, s.get("dtype", "float32"), hf=True)
    net, n32 = R.Mini(out), R.Mini(out, F32)
    scored = []
    for j in range(24):
        ids = torch.tensor(toy.line(18 + j % 7, g))
        m = lowest(net.forward(ids))
        toks, z, r = R.greedy(net, ids, s["count"])
        _, rounds = R.speculate_deep(net, ids, 4, s["count"])
        acc = [x["accepted"] for x in rounds]
        low = min(m, r, R.top2(z), min(x["min_draft_margin"] for x in rounds))
        scored.append((min(low, 1e-3), len(set(acc)), -abs(sum(acc) / len(acc) - 1.8), j, ids))
    scored.sort(key=lambda x: x[:4], reverse=True)
    prompts = [x[-1] for x in scored[:2]]
    ids = prompts[0]
    st, st32 = net.forward(ids), n32.forward(ids)
    case = Case(out, kind="deep_mtp", config="config.json", weights="model.safetensors", length=len(ids), tokens=ids.tolist(), **facts(net),
                training={"steps, main loss, mtp loss": hist[-1]}, option_sets={"default": {"chain_norm": "post"}, "chain_pre": {"chain_norm": "pre"}},
                drafts={}, draft_margins={}, k=4)
    case.add("input_ids", ids)
    put_stages(case, st, st32, skip=[k for k in st if k.startswith("latent_key")])
    for opt, pre in (("default", False), ("chain_pre", True)):
        a, b = R.draft_after_prompt(net, ids, 4, pre), R.draft_after_prompt(n32, ids, 4, pre)
        assert a["drafts"] == b["drafts"]
        case.meta["first_token"], case.meta["drafts"][opt] = a["first"], a["drafts"]
        case.meta["draft_margins"][opt] = [short(x) for x in (a["logits"].topk(2, -1).values @ torch.tensor([1.0, -1.0]).double())]
        if opt == "default":
            put_stages(case, {k: v for k, v in a["stages"].items() if not k.startswith("latent_key")}, b["stages"], "mtp.")
            put(case, "mtp.prefill", a["prefill"], b["prefill"], "all prompt slots after shared_head.norm")
        put(case, f"mtp.{opt}.hidden", a["hidden"], b["hidden"], "one row per draft: vector that feeds the head")
        put(case, f"mtp.{opt}.logits", a["logits"], b["logits"], "one row per draft")
    base = R.draft_after_prompt(net, ids, 1)
    theirs, _ = H.mtp(out, ids, base["first"])
    case.meta["checks"] = {"absorbed_vs_expanded": short((R.Mini(out, form="absorbed").forward(ids)["logits"] - st["logits"]).abs().max()),
                           "transformers_f32_logits": error(H.logits(out, ids), st["logits"])["max_abs"],
                           "transformers_f32_mtp_prefill": error(theirs, base["prefill"])["max_abs"]}
    toks, forwards = H.generate_with_mtp(out, ids, NEW)
    assert toks == R.greedy(net, ids, NEW)[0]
    case.meta["checks"]["transformers_use_mtp"] = {"tokens_equal": True, "target_forwards": forwards,
                                                   "rounds_here_k1": len(R.speculate_deep(net, ids, 1, NEW)[1]) + 1}
    case.meta["greedy"] = greedy_meta(out, ids)
    traces = {}
    for p, x in enumerate(prompts):
        plain, _, _ = R.greedy(net, x, s["count"])
        for label, r in trace(out, x, R.speculate_deep, (1, 2, 4), s["count"], plain).items():
            traces[f"prompt{p}.{label}"] = {"prompt": x.tolist(), **r}
    write_json(out / "speculative.json", traces)
    case.save()
    return {name: {"kind": "deep_mtp", "logit_error_f32_vs_f64": error(st32["logits"], st["logits"])["max_abs"], "greedy": case.meta["greedy"],
                   "checks": case.meta["checks"], "rounds": {k: v["accepted_histogram"] for k, v in traces.items()}}}


def hybrid_folder(root, name, s, seed):
    """Snapshot: GLM-OCR's wrapper, vision tower, tokenizer and prompt; MiniLLM text model under model.language_model."""
    out, spec = root / "minillm" / name, s["spec"]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    src = root / "snapshots" / s["tokenizer_from"]
    for f in ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "preprocessor_config.json", "chat_template.jinja"):
        shutil.copy(src / f, out / f)
    like = json.loads((src / "config.json").read_text())
    ids = Tokenizer.from_file(str(out / "tokenizer.json")).get_vocab(with_added_tokens=True)
    vocab = like["text_config"]["vocab_size"]
    cfg = snapshots.config_of(spec, ids, vocab)
    text = {**s["config"], "vocab_size": vocab, "hidden_size": spec.hidden, "eos_token_id": like["text_config"]["eos_token_id"],
            "pad_token_id": like["text_config"]["pad_token_id"], "bos_token_id": None}
    cfg.update(text_config=text, tie_word_embeddings=text["tie_word_embeddings"])
    vis = {k: v for k, v in snapshots.random_weights(spec, vocab, ids["<|endoftext|>"]).items() if k.startswith("model.visual.")}
    w = B.random_weights(text, seed)
    for k in ("embed_tokens.weight", "lm_head.weight"):
        if k in w and (k.startswith("lm") or text["tie_word_embeddings"]):
            w[k][ids["<|endoftext|>"]:] *= 0.2
    t = getattr(torch, spec.dtype)
    B.save(out, cfg, w, spec.dtype, {k: v.to(t).contiguous() for k, v in vis.items()}, prefix="model.language_model.")
    return out


def hf_vision(folder):
    """transformers' vision tower with this folder's weights."""
    from transformers.models.glm_ocr.configuration_glm_ocr import GlmOcrVisionConfig
    from transformers.models.glm_ocr.modeling_glm_ocr import GlmOcrVisionModel
    cfg = GlmOcrVisionConfig(**json.loads((folder / "config.json").read_text())["vision_config"])
    cfg._attn_implementation = "eager"
    m = GlmOcrVisionModel(cfg).float().eval()
    m.requires_grad_(False)
    w = {k.removeprefix("model.visual."): v for k, v in snapshots.load_weights(folder).items() if k.startswith("model.visual.")}
    m.load_state_dict(w)
    return m


def export_hybrid(root, name, s):
    """GLM-OCR's vision tower before a MiniLLM text model: plain positions, image rows are text rows."""
    proc = AutoProcessor.from_pretrained(str(root / "snapshots" / s["tokenizer_from"]))
    made = [reference.make_inputs(proc, [root / "images" / i for i in images], text) for _, images, text in s["cases"]]
    best, seen = (-1.0, 0), {}
    for seed in range(s["seed"], s["seed"] + 1000 * s.get("tries", 24), 1000):   # text weights whose router decisions are farthest from a tie
        out = hybrid_folder(root, name, s, seed)
        net, low = R.Mini(out), math.inf
        img = net.hybrid["image_token_id"]
        for j, (_, x) in enumerate(made):
            emb = net.embed(x["input_ids"][0])
            if "pixel_values" in x:
                if j not in seen:
                    seen[j] = Net(out, torch.float64).vision(x["pixel_values"], x["image_grid_thw"].tolist())["merged"]
                emb[x["input_ids"][0] == img] = seen[j]
            low = min(low, lowest(net.forward(x["input_ids"][0], embeds=emb)))
            if low > best[0]:
                _, z, r = R.greedy(net, x["input_ids"][0], NEW, embeds=emb)
                low = min(low, r, R.top2(z))
        best = max(best, (low, seed))
    out = hybrid_folder(root, name, s, best[1])
    net, n32, tower = R.Mini(out), R.Mini(out, F32), hf_vision(out)
    summary = {}
    for j, (label, images, text) in enumerate(s["cases"]):
        prompt, inputs = made[j]
        ids = inputs["input_ids"][0]
        grids = inputs["image_grid_thw"].tolist() if images else []
        folder = out / label
        case = Case(folder, kind="hybrid", snapshot="..", images=images, text=text, prompt=prompt, image_grid_thw=grids, tokens=ids.tolist(),
                    n_image_tokens=int((ids == img).sum()), prompt_len=len(ids), rope_delta=0, **facts(net))
        case.add("input_ids", ids)
        case.add("position_ids", torch.arange(len(ids)), note="plain indices, image rows included; decoding goes on at prompt_len")
        emb, emb32 = net.embed(ids), n32.embed(ids)
        if images:
            px = inputs["pixel_values"]
            sizes = [a * b * c for a, b, c in grids]
            for i, g, part in zip(images, grids, px.split(sizes)):
                stem = i.split(".")[0]
                ref = next(p for p in sorted((root / "pixels").glob(f"*/{stem}.npy")) if np.load(p).shape == tuple(part.shape) and
                           float(np.abs(np.load(p) - part.numpy()).max()) == 0)
                case.add(f"pixel_values.{stem}", part, file=f"../../../pixels/{ref.parent.name}/{stem}.npy", atol=3e-7)
            v = seen[j]
            v32 = tower(px, grid_thw=inputs["image_grid_thw"]).pooler_output
            v32 = torch.cat(list(v32)) if isinstance(v32, (list, tuple)) else v32
            put(case, "vision_embeds", v, v32, "after the merger, one row per image token")
            emb[ids == img], emb32[ids == img] = v, v32
        put(case, "inputs_embeds", emb, emb32, "rows before layer 0, image rows overwritten")
        st, st32 = net.forward(ids, embeds=emb), n32.forward(ids, embeds=emb32)
        for x in (st, st32):
            x["logits_last"] = x.pop("logits")[-1]
        put_stages(case, st, st32, skip=[k for k in st if k.startswith(("latent", "shared"))])
        case.meta["greedy"] = greedy_meta(out, ids, embeds=emb)
        if net.c["num_nextn_predict_layers"]:
            put_heads(case, out, ids, emb, 2)
            plain = R.greedy(net, ids, NEW, embeds=emb)[0]
            write_json(folder / "speculative.json", trace(out, ids, R.speculate_heads, [net.c["num_nextn_predict_layers"]], NEW, plain, emb))
        case.save()
        summary[f"{name}/{label}"] = {"kind": "hybrid", "logit_error_f32_vs_f64": error(st32["logits_last"], st["logits_last"])["max_abs"],
                                      "greedy": case.meta["greedy"], "margins": case.meta.get("margins")}
    return summary


CHATML = """{%- if messages[0]['role'] == 'system' -%}
    {%- set first = messages[0]['content'] -%}
    {%- set turns = messages[1:] -%}
{%- else -%}
    {%- set first = 'You are a helpful assistant' -%}
    {%- set turns = messages -%}
{%- endif -%}
{{- '<|im_start|>system\\n' + first + '<|im_end|>\\n' -}}
{%- for m in turns -%}
    {{- '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|im_start|>assistant\\n' -}}
    {%- if enable_thinking is defined and enable_thinking is false -%}
        {{- '<think>\\n\\n</think>\\n\\n' -}}
    {%- endif -%}
{%- endif -%}
"""


def chat_tokenizer(folder, merged, corpus):
    """Byte-level BPE as in the source: ids 0..2 special, then 256 byte characters in character order, then merged tokens."""
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tok.train_from_iterator([corpus] * 3, trainers.BpeTrainer(vocab_size=259 + merged, special_tokens=special, show_progress=False,
                                                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    assert [tok.token_to_id(t) for t in special] == [0, 1, 2]
    tok.save(str(folder / "tokenizer.json"))
    entry = lambda t: {"content": t, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    write_json(folder / "tokenizer_config.json", {
        "add_bos_token": False, "add_eos_token": False, "add_prefix_space": False, "added_tokens_decoder": {str(i): entry(t) for i, t in enumerate(special)},
        "additional_special_tokens": [], "bos_token": special[1], "clean_up_tokenization_spaces": False, "eos_token": special[2], "legacy": True,
        "model_max_length": 32768, "pad_token": special[0], "sp_model_kwargs": {}, "spaces_between_special_tokens": False,
        "tokenizer_class": "PreTrainedTokenizerFast", "unk_token": special[0], "chat_template": CHATML})
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


SWAP = (("<|user|>", "<|im_start|>"), ("<|assistant|>", "<|im_end|>"), ("<|image|>", "<|im_end|>"), ("<|begin_of_image|>", "<|im_start|>"),
        ("[gMASK]", "<|endoftext|>"), ("<sop>", "<|im_start|>"))


def export_chat(root, name, s):
    """Text-only snapshot with a ChatML tokenizer: encode, decode, stream, renderings, prompts with logits and greedy tokens."""
    out, raw = root / "minillm" / name, s["config"]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    tok = chat_tokenizer(out, s["merged"], tokenizer_build.CORPUS)
    size = tok.get_vocab_size(with_added_tokens=True)
    raw = {**raw, "vocab_size": size}
    B.save(out, raw, B.random_weights(raw, s["seed"]), s.get("dtype", "bfloat16"))
    write_json(out / "generation_config.json", {"do_sample": False, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0})
    rng, texts = random.Random(s["seed"]), []
    for t in TEXTS + ["".join(rng.choice(PIECES) for _ in range(rng.randint(2, 14))) for _ in range(80)]:
        for a, b in SWAP:
            t = t.replace(a, b)
        texts.append(t)
    texts += ["<|im_start|>system\nYou are a helpful assistant<|im_end|>\n", "<|im_start|>", "<|im_end", "<|im_start|><|im_end|>", "a<|im_end|>b", "@@@@"]
    texts = list(dict.fromkeys(texts))
    texts = texts[:s["limit"] // 2] + texts[-(s["limit"] - s["limit"] // 2):] if s.get("limit") else texts
    enc = [{"text": t, "ids": tok.encode(t, add_special_tokens=True).ids} for t in texts]
    assert all(e["ids"] == tok.encode(e["text"], add_special_tokens=False).ids for e in enc)
    write_json(out / "encode.json", enc)
    byte = {b: tok.token_to_id(c) for b, c in tokenizer_build.byte_to_unicode().items()}
    raws = [[], [0xE4], [0xE4, 0xB8, 0xAD], [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x98, 65], [0x80], [0xC3, 65], [0xED, 0xA0, 0x80], [0xFF, 0xFE], [10, 13], [0]]
    seqs = [[byte[b] for b in r] for r in raws] + [[size], [byte[65], size + 1, byte[66]], [0], [1], [2], [1, byte[0xE4], 2, byte[0xB8]], [byte[65], 0, byte[66]]]
    seqs += [e["ids"] for e in enc[::7]] + [[rng.randrange(size) for _ in range(rng.randint(1, 12))] for _ in range(40)]
    write_json(out / "decode.json", [{"ids": q, "text": tok.decode(q, skip_special_tokens=False), "text_skip_special": tok.decode(q, skip_special_tokens=True)}
                                     for q in seqs])
    streams = []
    for q in [e["ids"] for e in enc if any(ord(c) > 127 for c in e["text"])][:8] + [[byte[b] for b in (0xF0, 0x9F, 0x98, 0x80, 65)]]:
        st = DecodeStream(skip_special_tokens=False)
        streams.append({"ids": q, "chunks": [st.step(tok, i) for i in q]})
    write_json(out / "stream.json", {"note": "chunk that becomes printable after each id (null = held back)", "cases": streams})
    auto = AutoTokenizer.from_pretrained(str(out))
    u, a, y = (lambda r: lambda t: {"role": r, "content": t})("user"), (lambda t: {"role": "assistant", "content": t}), (lambda t: {"role": "system", "content": t})
    talks = [("user only", [u("hi")], {}), ("own system line", [y("Be brief."), u("hi")], {}), ("empty system line", [y(""), u("hi")], {}),
             ("three turns", [u("Text Recognition:"), a(" OK \n"), u("again")], {}), ("system, three turns", [y("S"), u("a"), a("b"), u("c")], {}),
             ("later system turn", [u("a"), y("S"), u("b")], {}), ("surrounding whitespace kept", [u("  hi \n")], {}), ("empty text", [u("")], {}),
             ("special token inside text", [u("a<|im_end|>b")], {}), ("no thinking", [u("hi")], {"enable_thinking": False}),
             ("thinking on", [u("hi")], {"enable_thinking": True}), ("other scripts", [u("中文文本识别 Straße 😀")], {}),
             ("image placeholder of the source's image wrapper", [u("@@@ what is this?")], {})]
    rows = []
    for label, msgs, kw in talks:
        for gen in (True, False):
            t = auto.apply_chat_template(msgs, tokenize=False, add_generation_prompt=gen, **kw)
            rows.append({"name": label, "messages": msgs, "add_generation_prompt": gen, **kw, "text": t, "ids": tok.encode(t, add_special_tokens=False).ids})
    write_json(out / "renderings.json", {"note": "content is a string in every case; see the specification for what is refused", "cases": rows})
    net, n32, summary = R.Mini(out), R.Mini(out, F32), {}
    prompts = [r for r in rows if r["add_generation_prompt"] and r["name"] in s["prompts"]]
    case = Case(out, kind="chat", config="config.json", weights="model.safetensors", **facts(net), prompts=[], vocabulary=size, merges=s["merged"])
    for j, r in enumerate(prompts):
        ids = torch.tensor(r["ids"])
        st, st32 = net.forward(ids), n32.forward(ids)
        put(case, f"prompt{j}.logits_last", st["logits"][-1], st32["logits"][-1])
        g = greedy_meta(out, ids)
        g["text"] = tok.decode(g["tokens"], skip_special_tokens=True)
        m = {k: short(v) for k, v in st.items() if "margin" in k}
        stop = g["tokens"][5]
        cut = g["tokens"][: g["tokens"].index(stop) + 1]
        case.meta["prompts"].append({"name": r["name"], "ids": r["ids"], "margins": m, "greedy": g, "with_stop": {"stop_ids": [stop], "tokens": cut, "emitted": cut[:-1]}})
        summary[f"{name}/{r['name']}"] = {"kind": "chat", "greedy": g, "margins": m}
    case.save()
    return summary


def long_ids(n, vocab):
    """Token i of the long prompt: a fixed linear congruential generator, so that only its rule need be stored."""
    x, out = 12345, []
    for _ in range(n):
        x = (1103515245 * x + 12345) % 2147483648
        out.append(3 + (x >> 8) % (vocab - 3))
    return out


def export_long(root, name, s):
    """A prompt of thousands of tokens with YaRN: expanded against absorbed, rows around the original context length, greedy tokens behind it."""
    out, raw, n = root / "minillm" / name, s["config"], s["length"]
    shutil.rmtree(out, ignore_errors=True)
    B.save(out, raw, B.random_weights(raw, s["seed"]), s.get("dtype", "bfloat16"))
    ids = torch.tensor(long_ids(n, raw["vocab_size"]))
    rows = sorted({0, 1, 255, 256, 1023, 4094, 4095, 4096, 4097, n // 2, n - 2, n - 1} & set(range(n)))
    res = {}
    for label, dtype, form in (("f64", torch.float64, "multihead"), ("absorbed", torch.float64, "absorbed"), ("f32", F32, "absorbed")):
        net = R.Mini(out, dtype, form=form)
        cache, st = R.Cache(), {}
        pre, h = net.rows(net.embed(ids)[None], cache, lambda k, v: st.__setitem__(k, v[0]))
        pick_rows = {k: v[rows] for k, v in st.items()}
        toks, z, hh = [], [], h[:, -1:]
        for _ in range(8):
            z.append(net.head(hh)[0, -1])
            toks.append(int(z[-1].argmax()))
            hh = net.rows(net.embed(toks[-1:])[None], cache)[1]
        res[label] = (pick_rows, net.head(h[:, rows])[0], toks, torch.stack(z))
    a, b, c = res["f64"], res["absorbed"], res["f32"]
    assert a[2] == b[2] == c[2]
    diff = {k: short((a[0][k] - b[0][k]).abs().max()) for k in a[0]}
    diff["logits"] = short((a[1] - b[1]).abs().max())
    assert max(diff.values()) < 1e-12 * max(1.0, float(a[1].abs().max())), diff
    net = R.Mini(out)
    case = Case(out, kind="long", config="config.json", weights="model.safetensors", length=n, rows=rows, **facts(net),
                tokens_rule="x0 = 12345; x = (1103515245 x + 12345) mod 2^31; token = 3 + floor(x / 256) mod (vocab_size - 3)", first_tokens=ids[:8].tolist(),
                last_tokens=ids[-8:].tolist(), absorbed_vs_expanded_f64=diff, greedy={"tokens": a[2], "min_margin": R.top2(a[3])})
    for k, v in a[0].items():
        put(case, k, v, c[0][k], "rows listed under `rows`")
    put(case, "logits", a[1], c[1], "rows listed under `rows`")
    put(case, "greedy_logits", a[3], c[3])
    case.save()
    return {name: {"kind": "long", "length": n, "absorbed_vs_expanded_f64": max(diff.values()), "logit_error_f32_vs_f64": error(c[1], a[1])["max_abs"],
                   "greedy": case.meta["greedy"]}}


EXPORT = {"plain": lambda r, n, s: {n: export_plain(r, n, s)}, "heads": export_heads, "dsa": export_dsa, "deep": export_deep, "hybrid": export_hybrid,
          "chat": export_chat, "long": export_long}


def export(root, cases=None, only=()):
    """Write all cases under root/minillm; returns and merges the summary."""
    cases, path = cases or CASES, root / "minillm" / "summary.json"
    summary = json.loads(path.read_text()) if path.exists() else {}
    for name, (kind, s) in cases.items():
        if only and name not in only:
            continue
        seed_all(s["seed"])
        summary.update(EXPORT[kind](root, name, s))
        write_json(path, summary)
    return summary
