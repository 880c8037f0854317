"""Recorded pages: greedy output of the reference model on golden prompts with post-norm hidden vectors, positions and teacher logits."""
import torch
from .. import mtp as M
from .. import reference as R
from ..independent import Net
from transformers import DeepseekV3ForCausalLM, GenerationConfig

from .losses import Page

TOP = 32


def teacher_arrays(logits, top=TOP):
    """(ids, logits, log-sum-exp) of the largest `top` logits of each row, largest first."""
    best = logits.topk(top, -1)
    return best.indices, best.values, logits.logsumexp(-1)


def mask_of(prompt, length, seed):
    """A label mask that drops about a quarter of the output tokens, reproducibly."""
    g = torch.Generator().manual_seed(seed)
    mask = torch.zeros(length, dtype=torch.bool)
    mask[prompt:] = torch.rand(length - prompt, generator=g) > 0.25
    return mask


def glm_page(model, processor, net64, name, images, text, count, seed):
    """One page of a GLM-OCR snapshot and the float64 hidden vectors of the same tokens."""
    _, inputs = R.make_inputs(processor, images, text)
    toks, scores = R.generate(model, inputs, count)
    s = M.Session(model, inputs)
    P, L = len(s.ids), len(s.ids) + count
    hidden = s.hidden
    if count > 1:
        h, _ = s.tokens(toks[:-1])
        hidden = torch.cat([hidden, h])
    ids = torch.tensor(s.ids + toks)
    pos = torch.cat([s.pos, torch.arange(P, L).expand(3, -1) + s.delta], 1)
    logits = model.lm_head(hidden[P - 1:])
    assert logits.argmax(-1).tolist() == toks and len(hidden) == L - 1
    grids = inputs["image_grid_thw"].tolist() if images else []
    r = net64.prefill(s.ids, inputs.get("pixel_values"), grids)
    hidden64 = r["hidden"]
    if count > 1:
        _, h = net64.decode(net64.embed(toks[:-1]), pos[:, P:L - 1], r["cache"])
        hidden64 = torch.cat([hidden64, h])
    page = Page(name, P, ids, pos, hidden, *teacher_arrays(logits), mask_of(P, L, seed))
    return page, hidden64, {"images": [p.name for p in images], "text": text, "image_grid_thw": grids, "rope_delta": s.delta}


def glm_pages(root, snapshot, jobs, seed):
    """jobs: (name, image paths, text, output tokens)."""
    folder = root / "snapshots" / snapshot
    model, processor = R.load(folder)
    net64 = Net(folder, torch.float64)
    return [glm_page(model, processor, net64, *job, seed + i) for i, job in enumerate(jobs)]


def text_pages(folder, jobs, seed):
    """Pages of a MiniLLM-family snapshot. jobs: (name, prompt tokens, output tokens); prompts are random ids."""
    model = DeepseekV3ForCausalLM.from_pretrained(str(folder), dtype=torch.float32, attn_implementation="eager").eval()
    model.requires_grad_(False)
    model.config._experts_implementation = "eager"
    model.generation_config.eos_token_id = None
    g = torch.Generator().manual_seed(seed)
    pages = []
    for i, (name, P, count) in enumerate(jobs):
        ids = torch.randint(3, model.config.vocab_size, (1, P), generator=g)
        gc = GenerationConfig(max_new_tokens=count, do_sample=False, eos_token_id=None, pad_token_id=0)
        ids = model.generate(input_ids=ids, generation_config=gc)[0]
        hidden = model.model(input_ids=ids[None, :-1], use_cache=False).last_hidden_state[0]
        logits = model.lm_head(hidden[P - 1:])
        pages.append(Page(name, P, ids, torch.arange(len(ids)), hidden, *teacher_arrays(logits), mask_of(P, len(ids), seed + i)))
    return pages
