"""Goldens of the experiment from scratch, corrected: exact small shapes, and its learning curves (docs/MTP.md)."""
import shutil

import numpy as np
import torch

from .packed import Folder, digits
from .seed_net import Adam, SeedNet, SplitMix, Stream, start, table_of
from .train import scalar

VARIANTS = {f"{h}.{t}": (h == "causal", t == "seed_rule") for h in ("causal", "independent") for t in ("corrected", "seed_rule")}


def disturbed(net, seed=1):
    g = torch.Generator().manual_seed(seed)
    for p in net.p.values():
        p.mul_(1 + 1e-15 * torch.randn(p.shape, generator=g, dtype=torch.float64))
    return net


def adam_steps(net, batches, lr):
    """[(loss, per depth)] before each step; the net is trained in place."""
    opt, log = Adam(net.p), []
    for x in batches:
        total, per, _, grads = net.gradient(x)
        opt.step(net.p, grads, lr)
        log.append((float(total), [float(v) for v in per]))
    return log


def export_shapes(out, seed, V=64, T=8, d=8, ff=32, D=3, heads=4):
    """B=1, T=8, d=8 as in the seed (vocabulary 64): logits, losses, gradients, five Adam steps, for four variants."""
    shutil.rmtree(out, ignore_errors=True)
    params = start(V, d, ff, seed)
    tokens = torch.from_numpy(SplitMix(seed + 1).below(V, T))[None]
    folder = Folder(out, V=V, T=T, d=d, ff=ff, depths=D, attention_heads=heads, init_seed=seed, parameters=sum(p.numel() for p in params.values()),
                    variants={})
    folder.given("tokens", tokens.to(torch.int32))
    folder.pack("init", {k: v.double() for k, v in params.items()}, None, None, "starting weights (float32 values)", torch.float32)
    for name, (causal, leak) in VARIANTS.items():
        a, b = SeedNet(params, D, causal, leak, torch.float64), SeedNet(params, D, causal, leak, torch.float32)
        c = disturbed(SeedNet(params, D, causal, leak, torch.float64))
        ra, rb, rc = a.gradient(tokens), b.gradient(tokens), c.gradient(tokens)
        folder.add(f"{name}.logits", ra[2], rb[2], rc[2], "[B, positions, depths, V]", torch.float64)
        folder.given(f"{name}.targets", a.targets(tokens, ra[2].shape[1]).to(torch.int32))
        folder.pack(f"{name}.gradient", ra[3], rb[3], rc[3], "query and key rows of in_proj have gradient exactly 0 (one key)")
        logs = [adam_steps(n, [tokens] * 6, 0.01) for n in (a, b, c)]
        folder.pack(f"{name}.step6", a.p, b.p, c.p, "weights after six Adam steps at 0.01")
        folder.meta["variants"][name] = {
            "total": scalar(float(ra[0]), float(rb[0]), float(rc[0]), 2e-5),
            "per_depth": [scalar(float(x), float(y), float(z), 2e-5) for x, y, z in zip(ra[1], rb[1], rc[1])],
            "loss_before_each_adam_step": [scalar(x[0], y[0], z[0], 2e-5) for x, y, z in zip(*logs)]}
    folder.save()


def curve(net, data, rates, mark, test):
    """One Adam step per rate on fresh data -> (loss before each step, weights after step `mark`, held-out result)."""
    opt, losses, kept = Adam(net.p), [], None
    for s, lr in enumerate(rates, 1):
        total, _, _, grads = net.gradient(data.batch(16))
        opt.step(net.p, grads, lr)
        losses.append(float(total))
        if s == mark:
            kept = {k: p.clone() for k, p in net.p.items()}
    ce, per, acc, _ = net.losses(test)
    return losses, kept, {"held_out_ce": digits(ce, 5), "ce_by_depth": [digits(x, 5) for x in per], "accuracy": [digits(x, 4) for x in acc]}


def exact_start(folder, key, make, data, rates, drift_of, keep):
    """Losses (and with `keep` the weights) of the first steps in float64. `data()` -> fresh stream; `drift_of` = (losses, weights) in float32."""
    nothing = data().batch(1)
    want, kept, _ = curve(make(), data(), rates, len(rates), nothing)
    noise, kept_t, _ = curve(disturbed(make()), data(), rates, len(rates), nothing)
    losses, kept32 = drift_of
    as64 = lambda x: torch.tensor(x[:len(rates)], dtype=torch.float64)
    folder.add(f"{key}.loss", as64(want), as64(losses), as64(noise), f"loss before each of the first {len(rates)} steps, repeat 0", torch.float64)
    drift = np.maximum.accumulate([abs(x - y) for x, y in zip(want, losses)])
    folder.arrays[f"{key}.loss"]["atol_by_step"] = [digits(max(20 * e, 2e-6 * x), 2) for e, x in zip(drift, want)]
    if keep:
        folder.pack(f"{key}.step{len(rates)}", kept, kept32, kept_t, f"weights after {len(rates)} steps, repeat 0", torch.float32)


def export_curves(out, seed, V=16, d=32, ff=64, T=16, D=3, steps=1500, lr=3e-3, repeats=5, exact=50):
    """Eight configurations x `repeats` seeds: first `exact` steps to a tolerance, the outcome as statistics."""
    shutil.rmtree(out, ignore_errors=True)
    table, first = table_of(V, seed), start(V, d, ff, seed + 10)
    seeds = {"table": seed, **{k: [seed + n + r for r in range(repeats)] for k, n in (("init", 10), ("train", 20), ("test", 30))}}
    folder = Folder(out, V=V, T=T, d=d, ff=ff, depths=D, batch=16, steps=steps, adam={"beta1": 0.9, "beta2": 0.999, "eps": 1e-8}, lr=lr,
                    lr_last_third=lr / 6, test_sequences=400, exact_steps=exact, seeds=seeds, order2_ceiling=0.95 + 0.05 / V, chance=1 / V,
                    ln_V=float(np.log(V)), splitmix64={s: [f"{int(x):016x}" for x in SplitMix(s).draws(3)] for s in (0, seed)}, results={})
    folder.pack("init", {k: v.double() for k, v in first.items()}, None, None, "starting weights of repeat 0 (float32 values)", torch.float32)
    folder.given("table", torch.from_numpy(table).to(torch.int32), "order-2 rule: next token of (a, b) at a*V+b")
    rates = [lr if s <= steps * 2 // 3 else lr / 6 for s in range(1, steps + 1)]
    points = [s for s in (50, 100, 200, 400, 700, 1000, 1250, 1500) if s <= steps]
    for kind in ("iid", "order2"):
        stream = lambda r: Stream(kind, V, T, seeds["train"][r], table)
        data = stream(0)
        folder.given(f"{kind}.tokens", torch.stack([data.batch(16) for _ in range(exact)]).to(torch.uint8), f"batches of steps 1..{exact}, repeat 0")
        for name, (causal, leak) in VARIANTS.items():
            key, runs = f"{kind}.{name}", []
            for r in range(repeats):
                test = Stream(kind, V, T, seeds["test"][r], table).batch(400)
                net = SeedNet(start(V, d, ff, seeds["init"][r]), D, causal, leak, torch.float32)
                losses, kept32, result = curve(net, stream(r), rates, exact, test)
                runs.append({**result, "train_loss_mean_of_10_up_to_step": {s: digits(np.mean(losses[s - 10:s]), 4) for s in points}})
                if r == 0:
                    exact_start(folder, key, lambda: SeedNet(first, D, causal, leak, torch.float64), lambda: stream(0), rates[:exact],
                                (losses, kept32), name == "causal.corrected")
            acc, spread = np.array([x["accuracy"] for x in runs]), {}
            for what, f in (("lowest", np.min), ("mean", np.mean), ("highest", np.max)):
                spread[f"{what}_accuracy"] = [digits(x, 4) for x in f(acc, 0)]
                spread[f"{what}_ce"] = digits(f([x["held_out_ce"] for x in runs]), 4)
            folder.meta["results"][key] = {**spread, "repeats": runs}
            print(key, spread["mean_accuracy"], spread["mean_ce"], flush=True)
    folder.save()
