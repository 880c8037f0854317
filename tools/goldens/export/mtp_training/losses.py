"""Rows, masks and losses of one batch of recorded pages (docs/MTP.md); the draft net is any object with
`outputs(page, K)` -> [(base slots, vectors that feed the head)] and `logits(vectors, rows of the head or None)`."""
from dataclasses import dataclass

import torch

from .recipe import step_weights


@dataclass
class Page:
    """A recorded page. Token j may be a label iff label_mask[j]; teacher row j - prompt belongs to label token j."""
    name: str
    prompt: int
    ids: torch.Tensor            # [L] int64
    pos: torch.Tensor            # [3, L] or [L]
    hidden: torch.Tensor         # [L-1, D]
    teacher_ids: torch.Tensor    # [L-P, top]
    teacher_logits: torch.Tensor
    teacher_lse: torch.Tensor    # [L-P]
    label_mask: torch.Tensor     # [L] bool

    def to(self, dtype):
        """The same page with its float arrays in `dtype`."""
        return Page(self.name, self.prompt, self.ids, self.pos, self.hidden.to(dtype), self.teacher_ids,
                    self.teacher_logits.to(dtype), self.teacher_lse.to(dtype), self.label_mask)


@dataclass(frozen=True)
class Objective:
    """What is minimised. `subset`: ascending token ids of a reduced head, or None; `use_mask`: honour Page.label_mask."""
    K: int = 3
    labels: str = "hard"
    subset: tuple = None
    use_mask: bool = False


def text_rows(page, d, bad=()):
    """Base slots of step d: from P-1 while t_{i+d+2} exists."""
    first = page.prompt - 1
    if "prompt_rows_in_loss" in bad:
        first = 0
    if "first_row_missed" in bad:
        first = page.prompt
    last = len(page.ids) - 3 - d
    if "last_row_missed" in bad:
        last -= 1
    return torch.arange(first, max(last + 1, first))


def label_index(base, d, length, bad=()):
    """Index of the label token of rows (base, d)."""
    j = base + d + 2
    if "label_is_input_token" in bad:
        j = j - 1
    if "label_one_late" in bad:
        j = (j + 1).clamp(max=length - 1)
    if "label_fixed_offset" in bad:
        j = base + 2
    return j


def teacher(page, j, vocab, bad=()):
    """[rows, vocab] probabilities of label tokens j from the stored top logits, renormalised to sum 1."""
    if "teacher_one_early" in bad:
        j = j - 1
    i = (j - page.prompt).clamp(min=0)
    top = page.teacher_logits[i]
    if "teacher_not_renormalised" in bad:
        p = (top - page.teacher_lse[i, None]).exp()
    else:
        p = top.softmax(-1)
    return torch.zeros(len(i), vocab, dtype=top.dtype).scatter(1, page.teacher_ids[i], p)


def page_rows(net, page, obj, bad=()):
    """Per step: base slots, label ids, weights before division (0 or 1), logits, cross-entropy of every row."""
    out = []
    vocab = net.vocab
    subset = None if obj.subset is None else torch.tensor(obj.subset)
    place = None
    if subset is not None:
        place = torch.full((vocab,), -1)
        place[subset] = torch.arange(len(subset))
    for d, (base, vec) in enumerate(net.outputs(page, obj.K, bad)):
        keep = text_rows(page, d, bad)
        keep = keep[(keep >= base.min()) & (keep <= base.max())] if len(base) else keep[:0]
        if not len(keep):
            out.append({"base": keep, "label": keep, "weight": keep.to(page.hidden.dtype), "logits": None, "ce": page.hidden.new_zeros(0),
                        "vec": vec[:0]})
            continue
        vec = vec[keep - base[0]]
        j = label_index(keep, d, len(page.ids), bad)
        label = page.ids[j]
        weight = page.label_mask[j].to(vec.dtype) if obj.use_mask else torch.ones(len(j), dtype=vec.dtype)
        logits = net.logits(vec, subset)
        lse = logits.logsumexp(-1)
        if obj.labels == "soft":
            q = teacher(page, j, vocab, bad)
            if "kl_instead_of_ce" in bad:
                ce = lse - (q * logits).sum(-1) + torch.special.xlogy(q, q).sum(-1)
            else:
                ce = q.sum(-1) * lse - (q * logits).sum(-1)
        else:
            at = label
            if place is not None:
                at = place[label]
                weight = weight * (at >= 0)
                at = at.clamp(min=0)
            ce = lse - logits.gather(1, at[:, None])[:, 0]
        out.append({"base": keep, "label": label, "weight": weight, "logits": logits, "ce": ce, "vec": vec})
    return out


def batch_loss(net, pages, obj, bad=()):
    """sum_d alpha_d / N_d * sum of weighted cross-entropies; N_d counts weighted rows of the whole batch. Returns total, per step, counts, rows."""
    alpha = step_weights(obj.K, bad)
    rows = [page_rows(net, p, obj, bad) for p in pages]
    sums, counts = [], []
    for d in range(obj.K):
        sums.append(sum((r[d]["ce"] * r[d]["weight"]).sum() for r in rows))
        if "masked_rows_counted" in bad:
            counts.append(float(sum(len(r[d]["base"]) for r in rows)))
        elif "divisor_all_slots" in bad:
            counts.append(float(sum(len(p.ids) - 1 for p in pages)))
        else:
            counts.append(float(sum(float(r[d]["weight"].sum()) for r in rows)))
    if "one_divisor" in bad:
        counts = [sum(counts) / obj.K] * obj.K
    if "divisor_of_step0" in bad:
        counts = [counts[0]] * obj.K
    if "mean_of_page_means" in bad:
        per = []
        for d in range(obj.K):
            got = [(r[d]["ce"] * r[d]["weight"]).sum() / r[d]["weight"].sum() for r in rows if float(r[d]["weight"].sum()) > 0]
            per.append(sum(got) / len(got) if got else sums[d])
    else:
        per = [s / n if n > 0 else s for s, n in zip(sums, counts)]
    if "alpha_over_present_steps" in bad:
        alive = sum(a for a, n in zip(alpha, counts) if n > 0)
        alpha = [a / alive for a in alpha]
    total = sum(a * x for a, x in zip(alpha, per))
    return {"total": total, "per_step": per, "counts": counts, "alpha": alpha, "rows": rows}


def gradients(net, pages, obj, bad=()):
    """(loss dict, gradient of every trained tensor)."""
    with torch.enable_grad():
        params = {k: p.requires_grad_(True) for k, p in net.trained(bad).items()}
        loss = batch_loss(net, pages, obj, bad)
        if isinstance(loss["total"], torch.Tensor) and loss["total"].requires_grad:
            got = torch.autograd.grad(loss["total"], list(params.values()), allow_unused=True)
        else:
            got = [None] * len(params)
    for p in params.values():
        p.requires_grad_(False)
    return loss, {k: torch.zeros_like(p) if g is None else g for (k, p), g in zip(params.items(), got)}
