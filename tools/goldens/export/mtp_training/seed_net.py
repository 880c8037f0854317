"""The small network (docs/MTP.md): one shared projection, block and head over all depths; causal chain or
independent heads; targets by the seed's rule (the token that was fed) or corrected (the next one). Dropout is left out."""
import math

import numpy as np
import torch
import torch.nn.functional as F

MASK = 0xFFFFFFFFFFFFFFFF


class SplitMix:
    """SplitMix64; `draws(n)` returns the next n outputs as uint64."""

    def __init__(self, seed):
        self.state = seed & MASK

    def draws(self, n):
        gamma = np.uint64(0x9E3779B97F4A7C15)
        with np.errstate(over="ignore"):
            z = np.uint64(self.state) + gamma * np.arange(1, n + 1, dtype=np.uint64)
            self.state = int(z[-1]) if n else self.state
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            return z ^ (z >> np.uint64(31))

    def below(self, n, count):
        """`count` integers in 0..n-1: (high 32 bits * n) >> 32."""
        with np.errstate(over="ignore"):
            return (((self.draws(count) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)).astype(np.int64)

    def uniform(self, count):
        """`count` doubles in [0, 1): high 53 bits."""
        return (self.draws(count) >> np.uint64(11)).astype(np.float64) * 2.0 ** -53


def shapes(V, d, ff):
    """Tensors in the order in which they are initialised, with the half-width of their uniform start ('one'/'zero' for constants)."""
    t = "transformer."
    return {"projections.weight": ((d, 2 * d), (2 * d) ** -0.5), "projections.bias": ((d,), (2 * d) ** -0.5),
            t + "self_attn.in_proj_weight": ((3 * d, d), (6 / (4 * d)) ** 0.5), t + "self_attn.in_proj_bias": ((3 * d,), "zero"),
            t + "self_attn.out_proj.weight": ((d, d), d ** -0.5), t + "self_attn.out_proj.bias": ((d,), "zero"),
            t + "linear1.weight": ((ff, d), d ** -0.5), t + "linear1.bias": ((ff,), d ** -0.5),
            t + "linear2.weight": ((d, ff), ff ** -0.5), t + "linear2.bias": ((d,), ff ** -0.5),
            t + "norm1.weight": ((d,), "one"), t + "norm1.bias": ((d,), "zero"), t + "norm2.weight": ((d,), "one"), t + "norm2.bias": ((d,), "zero"),
            "unembedding.weight": ((V, d), d ** -0.5), "unembedding.bias": ((V,), d ** -0.5), "embeddings.weight": ((V, d), 3 ** 0.5)}


def start(V, d, ff, seed):
    """Initial float32 weights from SplitMix64(seed), tensor after tensor."""
    rng, out = SplitMix(seed), {}
    for name, (shape, width) in shapes(V, d, ff).items():
        if isinstance(width, str):
            out[name] = torch.full(shape, 1.0 if width == "one" else 0.0)
        else:
            out[name] = torch.from_numpy(((2 * rng.uniform(math.prod(shape)) - 1) * width).astype(np.float32)).reshape(shape)
    return out


def plain_rms(x):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-8)


class SeedNet:
    """`forward(tokens [B,T])` -> logits [B, T-D or T-D-1, D, V]."""

    def __init__(self, params, depths, causal, leak, dtype):
        self.p = {k: v.to(dtype).clone() for k, v in params.items()}
        self.D, self.causal, self.leak = depths, causal, leak

    def block(self, x):
        """Encoder layer on a sequence of length one: attention reduces to out_proj(value)."""
        p, d, t = self.p, x.shape[-1], "transformer."
        w, b = p[t + "self_attn.in_proj_weight"], p[t + "self_attn.in_proj_bias"]
        v = x @ w[2 * d:].T + b[2 * d:]
        a = v @ p[t + "self_attn.out_proj.weight"].T + p[t + "self_attn.out_proj.bias"]
        x = F.layer_norm(x + a, (d,), p[t + "norm1.weight"], p[t + "norm1.bias"], 1e-5)
        f = F.relu(x @ p[t + "linear1.weight"].T + p[t + "linear1.bias"]) @ p[t + "linear2.weight"].T + p[t + "linear2.bias"]
        return F.layer_norm(x + f, (d,), p[t + "norm2.weight"], p[t + "norm2.bias"], 1e-5)

    def forward(self, tokens, bad=()):
        p, T = self.p, tokens.shape[1]
        n = T - self.D - (0 if self.leak else 1)
        e = p["embeddings.weight"][tokens]
        h, out = e[:, :n], []
        for k in range(self.D):
            fed = e[:, k + 1: k + 1 + n]
            parts = [plain_rms(h), plain_rms(fed)]
            if "embedding_half_first" in bad:
                parts.reverse()
            y = self.block(torch.cat(parts, -1) @ p["projections.weight"].T + p["projections.bias"])
            out.append(y @ p["unembedding.weight"].T + p["unembedding.bias"])
            if self.causal != ("chain_swapped" in bad):
                h = y.detach() if "chain_detached" in bad else y
        return torch.stack(out, 2)

    def targets(self, tokens, n):
        """[B, n, D]."""
        first = 1 if self.leak else 2
        return torch.stack([tokens[:, k + first: k + first + n] for k in range(self.D)], 2)

    def losses(self, tokens, bad=()):
        """(mean cross-entropy, per depth [D], share of correct argmax per depth, logits)."""
        logits = self.forward(tokens, bad)
        want = self.targets(tokens, logits.shape[1])
        ce = F.cross_entropy(logits.flatten(0, 2), want.flatten(), reduction="none").view(want.shape)
        return ce.mean(), ce.mean((0, 1)), (logits.argmax(-1) == want).double().mean((0, 1)), logits

    def gradient(self, tokens, bad=()):
        with torch.enable_grad():
            for q in self.p.values():
                q.requires_grad_(True)
            total, per, acc, logits = self.losses(tokens, bad)
            got = torch.autograd.grad(total, list(self.p.values()), allow_unused=True)
        for q in self.p.values():
            q.requires_grad_(False)
        return total.detach(), per.detach(), logits.detach(), {k: torch.zeros_like(q) if g is None else g for (k, q), g in zip(self.p.items(), got)}


class Adam:
    """Plain Adam (0.9, 0.999), eps 1e-8, no decay, no clip."""

    def __init__(self, params):
        self.t, self.m, self.v = 0, {k: torch.zeros_like(p) for k, p in params.items()}, {k: torch.zeros_like(p) for k, p in params.items()}

    def step(self, params, grads, lr):
        self.t += 1
        for k, p in params.items():
            self.m[k].mul_(0.9).add_(grads[k], alpha=0.1)
            self.v[k].mul_(0.999).addcmul_(grads[k], grads[k], value=0.001)
            p.sub_(lr * (self.m[k] / (1 - 0.9 ** self.t)) / ((self.v[k] / (1 - 0.999 ** self.t)).sqrt() + 1e-8))


def table_of(V, seed):
    """Order-2 rule: next token of (a, b) at index a * V + b."""
    return SplitMix(seed).below(V, V * V)


class Stream:
    """Sequences of one data kind: every token consumes two draws, (noise switch below 20, token below V)."""

    def __init__(self, kind, V, T, seed, table=None):
        self.kind, self.V, self.T, self.rng, self.table = kind, V, T, SplitMix(seed), table

    def batch(self, B):
        raw = self.rng.draws(2 * B * self.T).reshape(B, self.T, 2)
        with np.errstate(over="ignore"):
            high = raw >> np.uint64(32)
            switch = ((high[..., 0] * np.uint64(20)) >> np.uint64(32)).astype(np.int64)
            token = ((high[..., 1] * np.uint64(self.V)) >> np.uint64(32)).astype(np.int64)
        if self.kind == "order2":
            for i in range(2, self.T):
                rule = self.table[token[:, i - 2] * self.V + token[:, i - 1]]
                token[:, i] = np.where(switch[:, i] == 0, token[:, i], rule)
        return torch.from_numpy(token)
