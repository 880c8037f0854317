"""Train platen-mini on a pool of rendered lines (CPU).

Stages.  "ctc" trains the vision tower alone on character CTC; "layers" teaches the decoder layer by
layer from a decoder of the other recipe, "stack" all layers on top of each other (distil.py);
"joint" trains everything: CTC, the decoder under an attention guide (align.py) and the draft layer
or heads.  A run either continues a checkpoint, starts from an exported snapshot (--init-from) or
starts from nothing.

The learning rate is constant until --decay-at and falls along a cosine: until --end-at, whatever
the machine's other work leaves to the training, or with --decay-lines over so many lines, so that a
machine that gets busier cannot swallow the decay.  Worker processes run on their own and average
their weights now and then (exchange.py).
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import defaultdict
from pathlib import Path

import torch
import torch.multiprocessing as mp
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

from align import build_guide
from batches import Batch, Pool, assemble, jitter, make_prompt
from charset import CHAR_TO_INDEX
from distil import imitation
from exchange import Exchange, flatten, unflatten
from half import halve_products
from model import MiniOcr, Prompt
from monitor import validate
from optim import build
from recipes import MODELS
from snapshot import load_snapshot, new_model
from state import Average, init_from, load_checkpoint, save_checkpoint

LOWEST_RATE = 0.02
DRAFT_DEPTH = 3
DRAFT_WEIGHTS = (0.51, 0.31, 0.18)
DRAFT_WEIGHT = 0.3
MAX_LAYERS = 16
AVERAGE_EVERY = 10
EMPTY_LENGTH = 20


def ctc_loss(logits: Tensor, texts: list[str]) -> Tensor:
    """CTC over character sub-steps, per character; an empty line counts as ``EMPTY_LENGTH``."""
    targets = [torch.tensor([CHAR_TO_INDEX[c] for c in t], dtype=torch.long) for t in texts]
    lengths = torch.tensor([len(t) for t in targets])
    logp = logits.float().log_softmax(-1).transpose(0, 1)
    steps = torch.full((len(texts),), logits.shape[1])
    loss = F.ctc_loss(
        logp, torch.cat(targets), steps, lengths, reduction="none", zero_infinity=True
    )
    return (loss / torch.where(lengths > 0, lengths, EMPTY_LENGTH)).mean()


def answer_losses(
    model: MiniOcr,
    prompt: Prompt,
    batch: Batch,
    merged: Tensor,
    ctc: dict[str, Tensor],
    depth: int,
    args: argparse.Namespace,
    teacher: MiniOcr | None,
) -> dict[str, Tensor]:
    """Losses of the decoder."""
    before = len(prompt.before)
    ids, labels = assemble(prompt, merged.shape[1], batch.answers, args.noise)
    if teacher is not None:
        own = args.stage == "stack"
        return imitation(model, teacher, merged, ids, labels, before, depth, own)
    first = ids.shape[1] - labels.shape[1] - 1
    chars = [[CHAR_TO_INDEX[c] for c in t] for t in batch.texts]
    guide = build_guide(
        ctc["ctc_merged"], chars, batch.offsets, labels.shape[1], before, merged.shape[1], first
    )
    with torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
        return model.answer_losses(merged, ids, labels, before, guide, depth, args.mtp_grad)


def batch_loss(
    model: MiniOcr,
    prompt: Prompt,
    batch: Batch,
    depth: int,
    args: argparse.Namespace,
    rng: random.Random,
    teacher: MiniOcr | None = None,
) -> tuple[Tensor, dict[str, float]]:
    """Training loss of one batch and the values to log; ``depth`` draft positions (0: none)."""
    with torch.set_grad_enabled(not args.freeze_vision):
        merged, patches = model.encode(jitter(batch.images, rng))
        ctc = model.ctc(merged, patches)
    out: dict[str, Tensor] = {}
    if not args.freeze_vision:
        out["c1"] = ctc_loss(ctc["ctc_patch"], batch.texts)
        out["c2"] = ctc_loss(ctc["ctc_merged"], batch.texts)
    if args.stage != "ctc":
        out |= answer_losses(model, prompt, batch, merged, ctc, depth, args, teacher)
    if "mtp" in out:
        drafts = out.pop("mtp")
        out |= {f"mtp{i + 1}": d for i, d in enumerate(drafts)}
    weights = loss_weights(args)
    loss = sum(weights[k] * v for k, v in out.items() if k in weights)
    return loss, {k: float(v.detach()) for k, v in out.items()}


def loss_weights(args: argparse.Namespace) -> dict[str, float]:
    """Weight of every loss by its logged name; what has none is only logged."""
    ctc = 1.0 if args.stage == "ctc" else args.ctc_weight
    return {
        "c1": ctc,
        "c2": ctc,
        "loss": 1.0,
        "guide": args.guide_weight,
        "aux": args.aux_weight,
        **{f"layer{i}": 1.0 for i in range(MAX_LAYERS)},
        **{f"mtp{i + 1}": DRAFT_WEIGHT * w for i, w in enumerate(DRAFT_WEIGHTS)},
    }


class Schedule:
    """Learning rate as a function of wall time, or from ``decay_at`` on of the lines seen."""

    def __init__(
        self, end_at: float, decay_at: float, warmup: int, decay_lines: int | None = None
    ) -> None:
        self.end_at, self.decay_at, self.warmup = end_at, decay_at, warmup
        self.decay_lines = decay_lines

    def decay(self, now: float, state: dict) -> float:
        """Progress of the decay, 0 before it and 1 at its end.

        ``state``, the counters of a checkpoint, keeps where a decay over lines began.
        """
        if now < self.decay_at:
            return 0.0
        if self.decay_lines is None:
            return min(1.0, (now - self.decay_at) / (self.end_at - self.decay_at))
        began = state.setdefault("decay_from", state["samples"])
        return min(1.0, (state["samples"] - began) / self.decay_lines)

    def factor(self, decay: float, steps: int) -> float:
        """Share of the peak rate after ``steps`` steps of this process."""
        warm = min(1.0, (steps + 1) / self.warmup)
        return warm * (LOWEST_RATE + (1 - LOWEST_RATE) * 0.5 * (1 + math.cos(math.pi * decay)))

    def over(self, now: float, decay: float) -> bool:
        """Whether the run ends."""
        return now >= self.end_at or (self.decay_lines is not None and decay >= 1.0)


class Log:
    """Means of the logged values, printed and appended to log.jsonl every ``every`` seconds."""

    def __init__(self, path: Path, every: float) -> None:
        self.file, self.every = path.open("a"), every
        self.start()

    def start(self) -> None:
        self.began = time.time()
        self.sums: dict[str, float] = defaultdict(float)
        self.counts: dict[str, int] = defaultdict(int)

    def add(self, values: dict[str, float]) -> None:
        for k, v in values.items():
            self.sums[k] += v
            self.counts[k] += 1

    def due(self) -> bool:
        return time.time() - self.began > self.every

    def write(self, extra: dict) -> None:
        row = {k: round(v / self.counts[k], 4) for k, v in self.sums.items()} | extra
        line = json.dumps(row)
        print(line, flush=True)
        self.file.write(line + "\n")
        self.file.flush()


class Worker:
    """One training process."""

    def __init__(self, rank: int, args: argparse.Namespace, board: Exchange) -> None:
        self.rank, self.args, self.board = rank, args, board
        torch.set_num_threads(1)
        torch.manual_seed(args.seed)
        self.tok = Tokenizer.from_file(str(args.tokenizer))
        self.prompt = make_prompt(self.tok)
        self.model = new_model(args.model)
        self.teacher = load_snapshot(args.teacher) if args.teacher else None
        self.optimizers = build(self.model, args.lr)
        self.average = Average(self.model, args.ema)
        self.state = {"step": 0, "samples": 0, "elapsed": 0.0, "model": args.model}
        self.restore()
        seed = args.seed + self.state["step"] + 1_000_003 * rank
        self.rng = random.Random(seed)
        torch.manual_seed(seed)
        self.pool = Pool(args.pool, self.tok, args.max_lines // args.ranks, rank, args.ranks)
        self.pool.refresh()
        if args.half_products:
            halve_products(self.model)
        if args.compile:
            self.model.compile_layers()

    def restore(self) -> None:
        """Continue a checkpoint, else start from a snapshot where one is given."""
        path = self.args.out / "checkpoint.pt"
        if path.exists():
            self.state = load_checkpoint(path, self.model, self.average, self.optimizers)
        elif self.args.init_from:
            init_from(self.model, self.args.init_from, self.args.heads)
            self.average = Average(self.model, self.args.ema)

    def step(self, factor: float, decay: float) -> dict[str, float]:
        """One optimiser step; returns the values to log."""
        args, step = self.args, self.state["step"]
        for o in self.optimizers:
            for g in o.param_groups:
                g["lr"] = args.lr * factor
        drafting = args.stage != "ctc" and (decay > args.mtp_always or step % args.mtp_every == 0)
        batch = self.pool.batch(self.rng, args.widest, args.budget)
        loss, values = batch_loss(
            self.model,
            self.prompt,
            batch,
            DRAFT_DEPTH if drafting else 0,
            args,
            self.rng,
            self.teacher,
        )
        loss.backward()
        values["norm"] = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0))
        for o in self.optimizers:
            o.step()
            o.zero_grad(set_to_none=True)
        self.state["step"] += 1
        self.state["samples"] += len(batch.texts) * args.ranks
        return values

    def meet(self, steps: int) -> None:
        """Average the weights with the other workers."""
        if self.args.ranks > 1:
            unflatten(self.model, self.board.meet(self.rank, flatten(self.model), steps))

    def train(self) -> None:
        """Step until the end of the schedule; rank 0 also saves, logs and validates."""
        args, state = self.args, self.state
        schedule = Schedule(
            utc_today(args.end_at), utc_today(args.decay_at), args.warmup, args.decay_lines
        )
        log = Log(args.out / f"log{self.rank or ''}.jsonl", 30)
        began, base, first = time.time(), state["elapsed"], state["step"]
        last_save = last_check = began
        while state["step"] - first < args.max_steps:
            now = time.time()
            decay = schedule.decay(now, state)
            if schedule.over(now, decay):
                break
            factor = schedule.factor(decay, state["step"] - first)
            log.add(self.step(factor, decay))
            done = state["step"] - first
            if done % args.meet_every == 0:
                self.meet(args.meet_every)
            if self.rank == 0 and done % AVERAGE_EVERY == 0:
                self.average.update(self.model)
            state["elapsed"] = base + (time.time() - began) / 60
            if log.due():
                log.write(
                    {
                        "step": state["step"],
                        "seen": state["samples"],
                        "min": round(state["elapsed"], 2),
                        "lr": round(args.lr * factor, 6),
                        "pool": self.pool.size,
                        "rank": self.rank,
                    }
                )
                self.pool.refresh(2)
                log.start()
            if self.rank == 0 and now - last_save > args.save_minutes * 60:
                self.save()
                last_save = now
            if self.rank == 0 and 0 < args.check_minutes * 60 < now - last_check:
                self.check(log)
                last_check = time.time()
        self.meet((state["step"] - first) % args.meet_every)
        if self.rank == 0:
            self.save()
            if args.check_minutes:
                self.check(log)

    def save(self) -> None:
        save_checkpoint(
            self.args.out / "checkpoint.pt", self.model, self.average, self.optimizers, self.state
        )

    def check(self, log: Log) -> None:
        """Greedy CER on the monitoring lines, with the averaged weights."""
        model = new_model(self.args.model)
        model.load_state_dict(self.average.weights)
        result = validate(model, self.prompt, self.tok, self.args.val_pool, self.args.widest)
        log.start()
        log.write(
            {
                "val": result,
                "step": self.state["step"],
                "seen": self.state["samples"],
                "min": round(self.state["elapsed"], 2),
            }
        )


def utc_today(clock: str) -> float:
    """Seconds since the epoch of the nearest HH:MM (UTC) that is less than 12 hours past."""
    hour, minute = map(int, clock.split(":"))
    at = time.time() // 86400 * 86400 + hour * 3600 + minute * 60
    return at + 86400 if at < time.time() - 43200 else at


def run(rank: int, args: argparse.Namespace, board: Exchange) -> None:
    """Entry point of a worker process."""
    Worker(rank, args, board).train()


def parse_args() -> argparse.Namespace:
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    ap.add_argument("--pool", type=Path, required=True, help="folder of training shards")
    ap.add_argument("--val-pool", type=Path, required=True, help="folder of monitoring shards")
    ap.add_argument("--tokenizer", type=Path, required=True)
    ap.add_argument(
        "--out", type=Path, required=True, help="run folder; its checkpoint.pt is continued"
    )
    ap.add_argument(
        "--init-from", type=Path, help="snapshot folder to start from when there is no checkpoint"
    )
    ap.add_argument(
        "--heads", type=Path, help="folder of the training heads kept beside a snapshot"
    )
    ap.add_argument(
        "--model", choices=tuple(MODELS), default="glm_ocr", help="sizes and kind of decoder"
    )
    ap.add_argument("--stage", choices=("ctc", "layers", "stack", "joint"), default="joint")
    ap.add_argument("--teacher", type=Path, help="snapshot that layers and stack learn from")
    ap.add_argument(
        "--freeze-vision", action="store_true", help="train the decoder and the draft heads only"
    )
    ap.add_argument("--end-at", required=True, help="UTC time HH:MM at which the run ends")
    ap.add_argument("--decay-at", required=True, help="UTC time HH:MM at which the decay begins")
    ap.add_argument(
        "--decay-lines",
        type=int,
        help="decay over so many lines from --decay-at on and end then, by --end-at at the latest",
    )
    ap.add_argument(
        "--max-steps", type=int, default=10**9, help="end after so many steps even before --end-at"
    )
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--warmup", type=int, default=40, help="steps")
    ap.add_argument(
        "--budget",
        type=float,
        default=16.0,
        help="cost of a worker's batch, about 1 per line of 450 pixels",
    )
    ap.add_argument("--widest", type=int, default=700, help="widest line used, in pixels")
    ap.add_argument("--guide-weight", type=float, default=0.5)
    ap.add_argument("--ctc-weight", type=float, default=0.3, help="CTC weight in the joint stage")
    ap.add_argument("--aux-weight", type=float, default=0.01, help="weight of the router's loss")
    ap.add_argument("--noise", type=float, default=0.05, help="share of answer inputs replaced")
    ap.add_argument("--mtp-every", type=int, default=2, help="draft loss on every n-th step")
    ap.add_argument(
        "--mtp-always",
        type=float,
        default=0.3,
        help="decay progress after which every step has the draft loss",
    )
    ap.add_argument(
        "--mtp-grad",
        type=float,
        default=0.3,
        help="share of the draft gradient that reaches the trunk",
    )
    ap.add_argument(
        "--ema", type=float, default=0.97, help="decay of the weight mean, every 10 steps"
    )
    ap.add_argument("--ranks", type=int, default=2, help="worker processes of one thread")
    ap.add_argument("--meet-every", type=int, default=10, help="steps between weight exchanges")
    ap.add_argument("--max-lines", type=int, default=300_000, help="lines kept in memory")
    ap.add_argument(
        "--bf16", action="store_true", help="decoder in bfloat16 (pays with AMX and --compile)"
    )
    ap.add_argument(
        "--half-products",
        action="store_true",
        help="products of linear layers in bfloat16 (pays without AMX; half.py)",
    )
    ap.add_argument(
        "--compile",
        action="store_true",
        help="compile the layers (needs a C++ compiler; minutes at the start)",
    )
    ap.add_argument("--save-minutes", type=float, default=3)
    ap.add_argument(
        "--check-minutes", type=float, default=12, help="0: never read monitoring lines"
    )
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    if (args.stage in ("layers", "stack")) != (args.teacher is not None):
        ap.error("--stage layers, --stage stack and only they go with --teacher")
    return args


def main() -> None:
    args = parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    size = sum(p.numel() for p in new_model(args.model).parameters())
    board = Exchange(size, args.ranks, mp.get_context("spawn").Lock())
    if args.ranks > 1:
        mp.spawn(run, (args, board), nprocs=args.ranks)
    else:
        run(0, args, board)


if __name__ == "__main__":
    main()
