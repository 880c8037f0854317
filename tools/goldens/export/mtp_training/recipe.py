"""Loss weights, learning-rate schedule, global clip and AdamW (model/training/adamw.h, docs/MTP.md) in any float type."""
import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Recipe:
    """One optimiser set-up. `decay_to` is what the decoupled decay pulls towards: 'zero' or 'start' (the weights before step 1)."""
    steps: int = 50
    warmup: int = 5
    peak: float = 2e-3
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-8
    decay: float = 0.1
    decay_to: str = "zero"
    clip: float = 1.0


def step_weights(K, bad=()):
    """alpha_d = 0.6^d / sum."""
    if "alpha_uniform" in bad:
        return [1 / K] * K
    if "alpha_eagle" in bad:
        raw = [0.8 ** d for d in range(K)]
        return [a / sum(raw) for a in raw]
    raw = [0.6 ** d for d in range(K)]
    return raw if "alpha_not_normalised" in bad else [a / sum(raw) for a in raw]


def learning_rate(r, t, bad=()):
    """Rate of step t = 1..steps: linear to the peak at t = warmup, then half a cosine that reaches 0 one step after the last."""
    if "schedule_from_zero" in bad:
        t -= 1
    if t <= r.warmup and "no_warmup" not in bad:
        return r.peak * t / r.warmup
    if "no_warmup" in bad:
        return r.peak * 0.5 * (1 + math.cos(math.pi * (t - 1) / r.steps))
    return r.peak * 0.5 * (1 + math.cos(math.pi * (t - 1 - r.warmup) / (r.steps - r.warmup)))


class AdamW:
    """Holds m and v; `step` changes the parameters in place."""

    def __init__(self, params, recipe, bad=()):
        self.r, self.bad, self.t = recipe, bad, 0
        self.m = {k: torch.zeros_like(p) for k, p in params.items()}
        self.v = {k: torch.zeros_like(p) for k, p in params.items()}
        self.start = {k: p.detach().clone() for k, p in params.items()}

    def clipped(self, grads):
        """(gradients after the global clip, norm before it)."""
        norm = math.sqrt(sum(float((g.double() ** 2).sum()) for g in grads.values()))
        if "no_clip" in self.bad:
            return grads, norm
        if "clip_per_tensor" in self.bad:
            size = {k: float(g.double().norm()) for k, g in grads.items()}
            return {k: g * min(1.0, self.r.clip / max(size[k], 1e-300)) for k, g in grads.items()}, norm
        if "clip_by_value" in self.bad:
            return {k: g.clamp(-self.r.clip, self.r.clip) for k, g in grads.items()}, norm
        factor = min(1.0, self.r.clip / max(norm, 1e-300))
        return {k: g * factor for k, g in grads.items()}, norm

    def step(self, params, grads):
        """One update; returns what the log keeps."""
        r, bad = self.r, self.bad
        self.t += 1
        t, lr = self.t, learning_rate(r, self.t, bad)
        b2 = 0.999 if "beta2_0.999" in bad else r.beta2
        grads, norm = self.clipped(grads)
        for k, p in params.items():
            g = grads[k]
            pull = p - self.start[k] if r.decay_to == "start" and "decay_to_zero" not in bad else p
            wd = r.decay if p.ndim > 1 or "decay_on_norms" in bad else 0.0
            if "decay_in_gradient" in bad:
                g, wd = g + wd * pull, 0.0
            self.m[k] = r.beta1 * self.m[k] + (1 - r.beta1) * g
            self.v[k] = b2 * self.v[k] + (1 - b2) * g * g
            m, v = self.m[k], self.v[k]
            if "no_bias_correction" not in bad:
                m, v = m / (1 - r.beta1 ** t), v / (1 - b2 ** t)
            root = (v + r.eps).sqrt() if "eps_inside_root" in bad else v.sqrt() + r.eps
            if "decay_not_times_lr" in bad:
                p.sub_(lr * m / root + wd * r.peak * pull)
            else:
                p.sub_(lr * (m / root + wd * pull))
            if "master_in_bf16" in bad:
                p.copy_(p.bfloat16().to(p.dtype))
        return {"step": t, "lr": lr, "grad_norm": norm}
