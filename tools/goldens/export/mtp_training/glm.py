"""Training goldens of the GLM-OCR draft layer."""
import json
import shutil
from dataclasses import dataclass

import torch
from ..snapshots import load_weights

from .losses import Objective, batch_loss
from .nets import GlmLayer
from .packed import Folder
from .pages import glm_pages
from .recipe import Recipe
from .train import add_objective, add_pages, add_run, batch_order, disturb, scalar

RUN_N = Recipe(peak=5e-4, decay=0.1, decay_to="zero", clip=4.0, eps=1e-5)
RUN_U = Recipe(peak=1e-3, decay=0.05, decay_to="start", clip=2.0, eps=1e-8, warmup=3)


def makers(root, snapshot, chain):
    """() -> (float64, float32, disturbed float64) fresh nets."""
    folder = root / "snapshots" / snapshot
    w, c = load_weights(folder), json.loads((folder / "config.json").read_text())
    return lambda: (GlmLayer(w, c, torch.float64, chain), GlmLayer(w, c, torch.float32, chain), disturb(GlmLayer(w, c, torch.float64, chain)))


def inner_gradients(net, pages, obj):
    """{name: gradient} at n of every row of the rows table and at the step-0 keys and values of every slot."""
    net.collected = []
    with torch.enable_grad():
        for p in net.params.values():
            p.requires_grad_(True)
        loss = batch_loss(net, pages, obj)
        names = [(i, k) for i, kept in enumerate(net.collected) for k in kept]
        inner = [net.collected[i][k] for i, k in names]
        got = dict(zip(names, torch.autograd.grad(loss["total"], inner, allow_unused=True)))
    out, rows = {}, []
    for i, steps in enumerate(loss["rows"]):
        for d, step in enumerate(steps):
            base = step["base"]
            if len(base):
                rows.append(got[(i, f"n{d}")][base if d == 0 else slice(0, len(base))])
        out[f"page{i}.d_k0"], out[f"page{i}.d_v0"] = got[(i, "k0")].flatten(1), got[(i, "v0")].flatten(1)
    return {"d_vectors": torch.cat(rows), **out}


def add_inner_gradients(folder, key, make, pages, obj):
    """Store them: d_vectors includes the chain, d_k0 is at the keys after rotation."""
    a, b, c = (inner_gradients(net, [p.to(t) for p in pages], obj) for net, t in zip(make(), (torch.float64, torch.float32, torch.float64)))
    for name in a:
        folder.add(f"{key}.{name}", a[name], b[name], c[name], store=torch.float64)


@dataclass(frozen=True)
class Plan:
    """What one snapshot gets besides K3_n. `exact`: type of the K3_n and K3_u gradients and of the last weights."""
    objectives: tuple = ()
    runs: tuple = ()
    marks: tuple = (50,)
    float32_at: tuple = ()
    exact: torch.dtype = torch.float32


PUBLIC = Plan(("K5_n", "K3_u", "K3_soft", "K3_mask", "K3_subset"), ("n", "u"), (1, 10, 50), (1, 10, 50), torch.float64)


def add_step0(folder, make, pages):
    """n of step 0 at all slots of every page."""
    for i, page in enumerate(pages):
        a, b = (net.steps(page.to(t), 1)[0][2] for net, t in zip(make(), (torch.float64, torch.float32)))
        folder.add(f"page{i}.step0", a, b, note="n of step 0 at all slots 0..L-2 (weights of the snapshot)")


def add_short_page(folder, make, pages):
    """K = 5 on the shortest page alone, where some steps have no row."""
    short = min(range(len(pages)), key=lambda i: len(pages[i].ids) - pages[i].prompt)
    a, b = (batch_loss(net, [pages[short].to(t)], Objective(5)) for net, t in zip(make(), (torch.float64, torch.float32)))
    folder.meta["short_page"] = {"page": short, "K": 5, "N": a["counts"], "total": scalar(float(a["total"]), float(b["total"]), floor=1e-5),
                                 "note": "steps without rows add nothing; alpha is not renormalised"}


def export(root, out, snapshot, jobs, seed, plan=PUBLIC, relative="../../../snapshots"):
    """Everything for one snapshot."""
    shutil.rmtree(out, ignore_errors=True)
    recorded = glm_pages(root, snapshot, jobs, seed)
    pages = [r[0] for r in recorded]
    n, u = makers(root, snapshot, "n"), makers(root, snapshot, "u")
    folder = Folder(out, snapshot=f"{relative}/{snapshot}", tensors=list(GlmLayer.NAMES), prefix=n()[0].prefix)
    add_pages(folder, pages, [r[1] for r in recorded], [r[2] for r in recorded])
    add_step0(folder, n, pages)
    add_short_page(folder, n, pages)
    add_objective(folder, "K3_n", n, pages, Objective(3), plan.exact, vectors="K5_n" not in plan.objectives)
    add_inner_gradients(folder, "K3_n", n, pages, Objective(3))
    seen = sorted({int(x) for p in pages for x in p.ids[p.prompt:]})
    subset = tuple(sorted(set(seen[::2]) | {3, 17, 200}))
    jobs = {"K5_n": lambda k: add_objective(folder, k, n, pages, Objective(5), logits=True, vectors=True,
                                            note="steps 0..2 have the vectors and logits of K3_n"),
            "K3_u": lambda k: add_objective(folder, k, u, pages, Objective(3), plan.exact, vectors=True),
            "K3_soft": lambda k: add_objective(folder, k, n, pages, Objective(3, "soft"), note="top-32 teacher logits, renormalised"),
            "K3_mask": lambda k: add_objective(folder, k, n, pages, Objective(3, use_mask=True)),
            "K3_subset": lambda k: add_objective(folder, k, n, pages, Objective(3, subset=subset),
                                                 note="reduced head; labels outside it do not count")}
    for key in plan.objectives:
        jobs[key](key)
    exact = plan.marks[-1:] if plan.exact == torch.float64 else ()
    if "n" in plan.runs:
        add_run(folder, "adamw_n", n, pages, Objective(3), RUN_N, batch_order(len(pages), 50, seed + 1), plan.marks, plan.float32_at, exact)
    if "u" in plan.runs:
        add_run(folder, "adamw_u", u, pages, Objective(3), RUN_U, batch_order(len(pages), 50, seed + 2), plan.marks, (), exact,
                "chain u, decay towards the starting weights")
    folder.save()
