"""MTP reference built from transformers' own decoder layer and norm modules, its training, and the
speculative greedy loop whose trace is exported."""
import torch
import torch.nn as nn
from transformers.cache_utils import DynamicCache
from transformers.models.glm_ocr.modeling_glm_ocr import GlmOcrRMSNorm, GlmOcrTextDecoderLayer

DEFAULT = {"chain_norm": "post", "mask_position0": False, "image_slot_embedding": "placeholder", "rope_shift": False}
OPTION_SETS = {
    "default": DEFAULT,
    "chain_pre": {**DEFAULT, "chain_norm": "pre"},
    "mask_position0": {**DEFAULT, "mask_position0": True},
    "image_vision": {**DEFAULT, "image_slot_embedding": "vision"},
    "rope_shift": {**DEFAULT, "rope_shift": True},
    "vllm_like": {**DEFAULT, "chain_norm": "pre", "mask_position0": True},
}


class Mtp(nn.Module):
    """The draft layer; embedding table, head and rotary belong to the target model."""

    def __init__(self, target, weights):
        super().__init__()
        cfg = target.config.text_config
        self.target, self.config = [target], cfg
        self.enorm = GlmOcrRMSNorm(cfg.hidden_size, cfg.rms_norm_eps)
        self.hnorm = GlmOcrRMSNorm(cfg.hidden_size, cfg.rms_norm_eps)
        self.eh_proj = nn.Linear(2 * cfg.hidden_size, cfg.hidden_size, bias=False)
        self.layer = GlmOcrTextDecoderLayer(cfg, 0)
        self.norm = GlmOcrRMSNorm(cfg.hidden_size, cfg.rms_norm_eps)
        self.prefix = f"model.language_model.layers.{cfg.num_hidden_layers}."
        own = {self.own_name(k): v for k, v in weights.items() if k.startswith(self.prefix)}
        self.load_state_dict({k: v.float() for k, v in own.items() if k})

    def own_name(self, key):
        """Checkpoint name -> module name ('' for the unused copies)."""
        k = key[len(self.prefix):]
        if k.startswith(("embed_tokens", "shared_head.head")):
            return ""
        if k.startswith("shared_head.norm"):
            return k.replace("shared_head.norm", "norm")
        return k if k.split(".")[0] in ("enorm", "hnorm", "eh_proj") else "layer." + k

    def checkpoint(self):
        """Module weights under their checkpoint names."""
        out = {}
        for k, v in self.state_dict().items():
            k = k.replace("norm.", "shared_head.norm.", 1) if k.startswith("norm.") else k.removeprefix("layer.")
            out[self.prefix + k] = v
        return out

    def forward(self, e, h, pos, cache=None):
        """e, h [T,D]; pos [3,T] -> (u, n) [T,D]: before and after shared_head.norm."""
        z = self.eh_proj(torch.cat([self.enorm(e), self.hnorm(h)], -1))[None]
        past = cache.get_seq_length() if cache is not None else 0
        T = z.shape[1]
        mask = torch.full((T, past + T), torch.finfo(z.dtype).min).triu(past + 1)[None, None]
        rope = self.target[0].model.language_model.rotary_emb(z, pos[:, None])
        u = self.layer(z, position_embeddings=rope, attention_mask=mask, past_key_values=cache)
        return u[0], self.norm(u)[0]


class Session:
    """Target model state for one prompt: prefill once, then feed rows."""

    def __init__(self, target, inputs):
        self.t = target
        self.ids = inputs["input_ids"][0].tolist()
        self.cache = DynamicCache()
        emb = target.get_input_embeddings()(inputs["input_ids"])
        self.vis = None
        if "pixel_values" in inputs:
            feats = target.model.get_image_features(inputs["pixel_values"], inputs["image_grid_thw"]).pooler_output
            self.vis = torch.cat(list(feats))
            emb[0, inputs["input_ids"][0] == target.config.image_token_id] = self.vis
            pos, delta = target.model.get_rope_index(inputs["input_ids"], mm_token_type_ids=inputs["mm_token_type_ids"],
                                                     image_grid_thw=inputs["image_grid_thw"])
            self.pos, self.delta = pos[:, 0], int(delta)
        else:
            self.pos, self.delta = torch.arange(len(self.ids)).expand(3, -1), 0
        self.hidden = self.rows(emb[0], self.pos)
        self.first_logits = target.lm_head(self.hidden[-1])
        self.first = int(self.first_logits.argmax())

    def rows(self, emb, pos):
        """Rows [T,D] at positions [3,T] -> post-norm hidden [T,D]; the cache grows."""
        out = self.t.model.language_model(inputs_embeds=emb[None], position_ids=pos[:, None], past_key_values=self.cache,
                                          use_cache=True)
        return out.last_hidden_state[0]

    def tokens(self, toks):
        """Feed decided/draft tokens at the next indices -> (hidden, logits)."""
        n = self.cache.get_seq_length()
        pos = torch.arange(n, n + len(toks)).expand(3, -1) + self.delta
        h = self.rows(self.t.get_input_embeddings()(torch.tensor(toks)), pos)
        return h, self.t.lm_head(h)


def mtp_inputs(session, opts):
    """(embeddings, positions) of the prompt's MTP slots 0..L-1, tokens shifted left by one."""
    t, L = session.t, len(session.ids)
    shifted = torch.tensor(session.ids[1:] + [session.first])
    e = t.get_input_embeddings()(shifted).clone()
    if opts["image_slot_embedding"] == "vision" and session.vis is not None:
        e[shifted == t.config.image_token_id] = session.vis
    pos = session.pos
    if opts["rope_shift"]:
        pos = torch.cat([pos[:, 1:], torch.full((3, 1), L + session.delta)], 1)
    if opts["mask_position0"]:
        e[(pos == 0).all(0)] = 0
    return e, pos


def chain(mtp, session, u, n, p, k, cache, opts):
    """k drafts from the last MTP outputs u, n (post/pre norm) at scalar rope position p."""
    drafts, logits, hidden = [], [], []
    for j in range(k):
        lg = session.t.lm_head(n[-1])
        logits.append(lg)
        hidden.append(n[-1])
        drafts.append(int(lg.argmax()))
        if j + 1 < k:
            p += 1
            prev = (u if opts["chain_norm"] == "pre" else n)[-1:]
            u, n = mtp(session.t.get_input_embeddings()(torch.tensor(drafts[-1:])), prev, torch.full((3, 1), p), cache)
    return drafts, torch.stack(logits), torch.stack(hidden)


def draft_after_prompt(mtp, target, inputs, k, opts):
    """MTP prefill and one chain of k drafts after the prompt."""
    s = Session(target, inputs)
    cache = DynamicCache()
    e, pos = mtp_inputs(s, opts)
    u, n = mtp(e, s.hidden, pos, cache)
    drafts, logits, hidden = chain(mtp, s, u, n, int(pos[0, -1]), k, cache, opts)
    return {"first": s.first, "prefill": n, "drafts": drafts, "logits": logits, "hidden": hidden}


def margin(logits):
    """Smallest top-1 minus top-2 over rows."""
    top = logits.topk(2, -1).values
    return float(f"{float((top[:, 0] - top[:, 1]).min()):.3g}")


def truncate(cache, length):
    """Keep the first `length` entries of every layer (transformers' crop takes a negative count of entries to drop)."""
    drop = cache.get_seq_length() - length
    if drop > 0:
        cache.crop(-drop)


def speculative(mtp, target, inputs, k, count, opts=DEFAULT, stop=()):
    """Greedy decoding with k drafts per round -> (tokens, rounds)."""
    s = Session(target, inputs)
    mc = DynamicCache()
    e, pos = mtp_inputs(s, opts)
    u, n = mtp(e, s.hidden, pos, mc)
    p = int(pos[0, -1])
    out, rounds, t_n = [s.first], [], s.first
    shift = 1 if opts["rope_shift"] else 0
    while len(out) < count and out[-1] not in stop:
        base = s.cache.get_seq_length()
        slots = mc.get_seq_length()
        drafts, draft_logits, _ = chain(mtp, s, u, n, p, k, mc, opts)
        after_draft = mc.get_seq_length()
        h, logits = s.tokens([t_n] + drafts)
        best = logits.argmax(-1).tolist()
        m = 0
        while m < k and drafts[m] == best[m]:
            m += 1
        emitted = drafts[:m] + [best[m]]
        truncate(s.cache, base + m + 1)
        truncate(mc, slots)
        pe = torch.arange(base, base + m + 1).expand(3, -1) + s.delta + shift
        u, n = mtp(target.get_input_embeddings()(torch.tensor(emitted)), h[: m + 1], pe, mc)
        p = int(pe[0, -1])
        kept = []
        for tok in emitted:
            if len(out) + len(kept) < count and not (kept and kept[-1] in stop):
                kept.append(tok)
        rounds.append({"target_len_before": base, "rope_pos_of_t_n": base + s.delta, "t_n": t_n, "drafts": drafts,
                       "target_argmax": best, "accepted": m, "emitted": kept, "mtp_len_before": slots,
                       "mtp_len_after_drafting": after_draft, "target_len_after": s.cache.get_seq_length(),
                       "mtp_len_after": mc.get_seq_length(), "min_draft_margin": margin(draft_logits),
                       "min_target_margin": margin(logits)})
        out += kept
        t_n = emitted[-1]
    return out, rounds


def train(mtp, target, sequences, wanted, evaluate, steps=1500, lr=1e-3, seed=7):
    """Fit only the MTP layer to the target's own greedy continuations until `evaluate()` (share of accepted drafts) reaches
    `wanted`. `sequences`: list of (ids, pos, hidden, embeddings) of prompt + continuation. Three chained steps are trained."""
    torch.manual_seed(seed)
    params = [p for p in mtp.parameters()]
    opt = torch.optim.Adam(params, lr=lr)
    history = []
    with torch.enable_grad():
        for p in params:
            p.requires_grad_(True)
        for step in range(steps):
            opt.zero_grad()
            for j in torch.randint(len(sequences), (8,)).tolist():
                ids, start, pos, hidden, emb = sequences[j]
                T, h, loss = len(ids), hidden, 0.0
                for depth in range(3):
                    # slot i: hidden_i (or the previous step's output for i-1), token i+1+depth -> predicts token i+2+depth
                    n_slots = T - 2 - depth
                    _, out = mtp(emb[1 + depth: 1 + depth + n_slots], h[:n_slots], pos[:, depth: depth + n_slots])
                    lo = max(start - 2, 0)
                    logits = target.lm_head(out[lo:])
                    loss = loss + nn.functional.cross_entropy(logits, ids[2 + depth + lo: 2 + depth + n_slots]) * (1, 0.5, 0.3)[depth]
                    h = out
                (loss / 8).backward()
            torch.nn.utils.clip_grad_norm_(params, 1.0)
            opt.step()
            if step % 5 == 4:
                with torch.no_grad():
                    score = evaluate()
                history.append([step + 1, round(float(loss.detach()), 3), round(score, 3)])
                if score >= wanted:
                    break
    for p in params:
        p.requires_grad_(False)
    return history
