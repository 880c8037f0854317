"""The training step: losses, gradients, resuming."""

import argparse
import random
import time
from multiprocessing import Lock
from pathlib import Path

import numpy as np
import pytest
import torch

from exchange import Exchange
from render import Line
from shards import write_shard
from train import DRAFT_DEPTH, Worker, batch_loss

SNAPSHOT = Path(__file__).resolve().parents[3] / "assets" / "platen-mini"


@pytest.fixture(scope="module")
def args(tmp_path_factory) -> argparse.Namespace:
    """Arguments of a tiny run on sixteen lines of noise."""
    folder = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(1)
    images = [rng.integers(0, 256, (28, 84), dtype=np.uint8) for _ in range(16)]
    texts = ["some text", "some text", "", "text"]
    lines = [Line(texts[i % 4], image, image, "F", False) for i, image in enumerate(images)]
    write_shard(folder / "shard-001-00000.npz", lines)
    return argparse.Namespace(
        pool=folder, tokenizer=SNAPSHOT / "tokenizer.json", out=folder, init_from=SNAPSHOT,
        heads=None, stage="joint", lr=1e-3, budget=1.5, widest=700, guide_weight=0.5,
        ctc_weight=0.3, noise=0.0, mtp_every=1, mtp_always=0.0, mtp_grad=0.3, ema=0.9, ranks=1,
        max_lines=100, bf16=False, compile=False, seed=1, model="glm_ocr", teacher=None,
        freeze_vision=False, aux_weight=0.01, half_products=False, decay_lines=None,
    )  # fmt: skip


def new_worker(args: argparse.Namespace) -> Worker:
    return Worker(0, args, Exchange(1, 1, Lock()))


def draft_gradient(worker: Worker, share: float) -> torch.Tensor | None:
    """Gradient that the draft losses alone send to the last trunk layer."""
    worker.args.mtp_grad = share
    worker.model.zero_grad(set_to_none=True)
    batch = worker.pool.batch(random.Random(1), 700, 1.5)
    torch.manual_seed(3)
    merged, _ = worker.model.encode(batch.images)
    ids = torch.randint(0, 256, (len(batch.texts), 40))
    labels = ids[:, -9:].clone()
    out = worker.model.answer_losses(merged, ids, labels, 5, None, DRAFT_DEPTH, share)
    out["mtp"].sum().backward()
    return worker.model.model.language_model.layers[3].mlp.down_proj.weight.grad


def test_steps_learn_a_fixed_set_of_lines(args):
    worker = new_worker(args)
    losses = [worker.step(1.0, 1.0)["loss"] for _ in range(8)]
    assert losses[-1] < 0.7 * losses[0]


def test_every_loss_is_logged(args):
    worker = new_worker(args)
    batch = worker.pool.batch(worker.rng, 700, 1.5)
    _, values = batch_loss(worker.model, worker.prompt, batch, DRAFT_DEPTH, args, worker.rng)
    assert set(values) == {"c1", "c2", "loss", "hit", "guide", "mtp1", "mtp2", "mtp3"}
    assert all(np.isfinite(v) for v in values.values())


def test_the_share_bounds_what_drafts_send_to_the_trunk(args):
    worker = new_worker(args)
    full, third = draft_gradient(worker, 0.9).clone(), draft_gradient(worker, 0.3).clone()
    assert torch.allclose(third * 3, full, rtol=1e-3, atol=1e-6)
    assert not draft_gradient(worker, 0.0).any()
    args.mtp_grad = 0.3


def test_a_saved_run_goes_on_where_it_stopped(args):
    worker = new_worker(args)
    worker.step(1.0, 1.0)
    worker.save()
    again = new_worker(args)
    assert again.state["step"] == 1
    for name, value in worker.model.state_dict().items():
        assert torch.equal(value, again.model.state_dict()[name]), name
    (args.out / "checkpoint.pt").unlink()


def test_a_resumed_run_takes_its_rate_from_the_command_line(args):
    worker = new_worker(args)
    worker.step(1.0, 1.0)
    worker.save()
    slower = argparse.Namespace(**{**vars(args), "lr": args.lr / 4})
    again = new_worker(slower)
    again.step(0.5, 1.0)
    rates = {g["lr"] for o in again.optimizers for g in o.param_groups}
    assert rates == {args.lr / 8}
    (args.out / "checkpoint.pt").unlink()


def test_a_run_ends_after_its_steps(args):
    begin, end = (f"{(time.gmtime().tm_hour + h) % 24:02d}:00" for h in (1, 2))
    limits = {"max_steps": 3, "decay_at": begin, "end_at": end, "warmup": 1, "meet_every": 10}
    run = argparse.Namespace(**vars(args), **limits, save_minutes=60, check_minutes=0)
    new_worker(run).train()
    assert new_worker(run).state["step"] == 3
    (args.out / "checkpoint.pt").unlink()


def test_a_decay_over_lines_ends_a_run(args):
    now, later = (f"{(time.gmtime().tm_hour + h) % 24:02d}:00" for h in (0, 2))
    own = {"decay_lines": 40, "decay_at": now, "end_at": later, "warmup": 1, "max_steps": 99}
    own |= {"save_minutes": 60, "check_minutes": 0, "meet_every": 10}
    worker = new_worker(argparse.Namespace(**{**vars(args), **own}))
    worker.train()
    assert 40 <= worker.state["samples"] < 80
    assert worker.state["decay_from"] == 0
    (args.out / "checkpoint.pt").unlink()


def test_steps_with_half_products_learn(args):
    worker = new_worker(argparse.Namespace(**{**vars(args), "half_products": True}))
    losses = [worker.step(1.0, 1.0)["loss"] for _ in range(8)]
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("frozen", [False, True])
def test_a_frozen_tower_stays_as_it_is(args, frozen):
    worker = new_worker(argparse.Namespace(**{**vars(args), "freeze_vision": frozen}))
    before = {k: v.clone() for k, v in worker.model.state_dict().items()}
    worker.step(1.0, 1.0)
    changed = {k for k, v in worker.model.state_dict().items() if not torch.equal(v, before[k])}
    assert any("language_model" in k for k in changed)
    assert frozen != any(k.startswith(("model.visual", "ctc_merged")) for k in changed)


@pytest.mark.parametrize("stage", ["layers", "stack"])
def test_layers_learn_from_a_teacher(args, tmp_path, stage):
    own = {"stage": stage, "teacher": SNAPSHOT, "model": "minillm", "freeze_vision": True}
    worker = new_worker(argparse.Namespace(**{**vars(args), **own, "out": tmp_path}))
    values = [worker.step(1.0, 1.0) for _ in range(6)]
    assert set(values[0]) == {
        *(f"layer{i}" for i in range(4)), *(f"mtp{i}" for i in (1, 2, 3)), "aux", "norm",
        *(("loss", "hit") if stage == "stack" else ()),
    }  # fmt: skip
    assert values[-1]["layer3"] < values[0]["layer3"]
