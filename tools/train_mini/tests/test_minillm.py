"""The second recipe: its graph is the reference's, its losses are what they should be."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from batches import make_prompt
from config import MiniLlmTextConfig, ModelConfig, VisionConfig
from decode import Decoder
from distil import imitation
from export import export
from minillm_text_model import balance_loss, choose
from model import MiniOcr, input_rows
from optim import HIDDEN
from recipes import MODELS, RECIPES, read_config
from snapshot import load_snapshot, new_model
from state import init_from

ROOT = Path(__file__).resolve().parents[3]
SNAPSHOT = ROOT / "assets" / "platen-mini"
TOKENIZER = SNAPSHOT / "tokenizer.json"
RECIPE = RECIPES["minillm"]
SMALL = MiniLlmTextConfig(
    vocab=40, hidden=24, intermediate=28, layers=3, heads=3, nope_dim=6, rope_dim=4, value_dim=5,
    kv_rank=7, experts=5, experts_per_token=2, expert_intermediate=9, shared_experts=2,
    draft_heads=3, draft_intermediate=20,
)  # fmt: skip


def small_model(seed: int = 1, **sizes: int) -> MiniOcr:
    """A small model whose every weight matters, the norms included."""
    torch.manual_seed(seed)
    text = replace(SMALL, **sizes)
    vision = VisionConfig(hidden=16, heads=2, depth=1, intermediate=16, out_hidden=text.hidden)
    model = MiniOcr(ModelConfig(vision, text))
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "norm" in name:
                p.uniform_(0.6, 1.4)
            elif name.endswith(("down_proj.weight", "o_proj.weight")):
                p.normal_(std=p.shape[1] ** -0.5)
    return model


@pytest.fixture(scope="module")
def reference():
    """The float64 implementation behind tests/golden/minillm."""
    path = ROOT / "tools" / "goldens" / "export" / "mini_ref.py"
    spec = importlib.util.spec_from_file_location("mini_ref", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    return Tokenizer.from_file(str(TOKENIZER))


@pytest.mark.parametrize("q_rank", [0, 11])
def test_the_graph_is_the_references(reference, tmp_path, q_rank):
    model = small_model(q_rank=q_rank).eval()
    c = model.config
    kept = {k: v for k, v in model.state_dict().items() if not k.startswith("ctc_")}
    tensors = {k: v.contiguous() for k, v in RECIPE.to_file(kept, c).items()}
    save_file({k: v.clone() for k, v in tensors.items()}, tmp_path / "model.safetensors")
    text = RECIPE.text_json(c) | {"tie_word_embeddings": False}
    (tmp_path / "config.json").write_text(json.dumps({"text_config": text}))
    exact = reference.Mini(tmp_path)
    ids, merged = torch.randint(0, 40, (2, 13)), torch.randn(2, 4, c.text.hidden)
    with torch.no_grad():
        hidden, cos, sin = model.trunk(merged, ids, 3)
        wanted = exact.rows(model.inputs(merged, ids, 3).double(), reference.Cache())[1]
        assert torch.allclose(hidden.double(), wanted, atol=2e-5)
        assert torch.allclose(model.lm_head(hidden).double(), exact.head(wanted), atol=5e-5)
        drafts = model.mtp_logits(ids, hidden, cos, sin, 0, 3)
        for got, (_, logits) in zip(drafts, exact.heads(wanted), strict=True):
            assert torch.allclose(got.double(), logits, atol=1e-4)


def test_the_best_scores_become_weights():
    scores = torch.tensor([0.9, -0.4, 1.3, 0.2, -1.1, 0.7, 1.1, 0.05]).softmax(-1)
    wanted = torch.zeros(8)
    wanted[2], wanted[6] = 0.549834, 0.450166
    assert torch.allclose(choose(scores, 2), wanted, atol=1e-6)


def test_balance_of_experts_by_hand():
    # Two sequences of three rows, the last of the second is padding; 3 experts, one a row.
    scores = torch.tensor(
        [
            [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.1, 0.2, 0.7]],
            [[0.2, 0.6, 0.2], [0.3, 0.4, 0.3], [0.0, 0.0, 1.0]],
        ],
        requires_grad=True,
    )
    rows = torch.tensor([[True, True, True], [True, True, False]])
    # First: loads 3 * (2, 0, 1) / 3, mean scores (1.2, 0.7, 1.1) / 3: (2.4 + 1.1) / 3.
    # Second: loads 3 * (0, 2, 0) / 2, mean scores (0.25, 0.5, 0.25): 1.5.
    loss = balance_loss(scores, choose(scores, 1), rows)
    assert loss.item() == pytest.approx((3.5 / 3 + 1.5) / 2, abs=1e-6)
    loss.backward()
    assert scores.grad[0, 0, 0] > scores.grad[0, 0, 2] > scores.grad[0, 0, 1] == 0
    assert not scores.grad[1, 2].any()


def test_even_use_of_experts_costs_one():
    scores = torch.full((1, 4, 4), 0.25)
    weights = torch.eye(4)[None] + torch.eye(4).roll(1, 0)[None]
    assert float(balance_loss(scores, weights, torch.ones(1, 4, dtype=torch.bool))) == 1.0


def test_rows_behind_an_answer_are_no_input():
    labels = torch.tensor([[5, 6, 7], [5, 7, -100]])
    assert input_rows(labels, 2).tolist() == [[True] * 5, [True] * 4 + [False]]


def test_drafts_of_the_right_offset_cost_nothing():
    model, labels = small_model(), torch.randint(0, 40, (2, 9))
    for shift in (-1, 0, 1):
        drafts = [
            30.0 * torch.nn.functional.one_hot(labels.roll(-d - 1 - shift, 1), 40).float()
            for d in range(3)
        ]
        # The last row of a draft has no label: what roll puts there does not count.
        losses = model.draft_losses(drafts, labels)
        assert bool((losses < 1e-6).all()) == (shift == 0), shift


def test_trained_heads_draft_the_tokens_that_follow():
    """Tokens go round in a ring, so the heads can learn the next ones by heart."""
    model = small_model(layers=1, dense_layers=1)
    lm, ring = model.model.language_model, torch.randperm(12, generator=torch.Generator())
    following = ring.roll(-1)[ring.argsort()]
    ids = [int(ring[0])]
    while len(ids) < 26:
        ids.append(int(following[ids[-1]]))
    ids = torch.tensor([ids])
    codes = torch.randn(40, SMALL.hidden)
    hidden = codes[ids[:, 1:]]  # row i tells token i + 1
    optimizer = torch.optim.Adam(lm.mtp_layers.parameters(), 0.01)
    for _ in range(150):
        drafts = model.mtp_logits(ids, hidden, *lm.line_rotary(0, 0, 26), 2, 3)
        loss = model.draft_losses(drafts, ids[:, 3:]).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    known = int(ids[0, 7])  # told by row 6
    got = lm.draft(None, [known], hidden[:, :7], 0, 3, model.lm_head)
    wanted = [known]
    for _ in range(3):
        wanted.append(int(following[wanted[-1]]))
    assert got == wanted[1:]


def test_router_and_padding_get_the_auxiliary_loss():
    model = small_model()
    ids, merged = torch.randint(0, 40, (2, 12)), torch.randn(2, 3, SMALL.hidden)
    labels = ids[:, -5:].clone()
    out = model.answer_losses(merged, ids, labels, 2, None, 3, 0.3)
    assert set(out) == {"loss", "hit", "aux", "mtp"}
    out["aux"].backward()
    got = {n for n, p in model.named_parameters() if p.grad is not None and p.grad.any()}
    assert "model.language_model.layers.1.mlp.gate.weight" in got
    assert not any("mtp_layers" in name or "lm_head" in name for name in got)


def test_a_student_that_equals_its_teacher_has_no_error():
    teacher, student = small_model(), small_model()
    other = small_model(2)
    ids, merged = torch.randint(0, 40, (2, 12)), torch.randn(2, 3, SMALL.hidden)
    labels = ids[:, -5:].clone()
    same = imitation(student, teacher, merged, ids, labels, 2, 3)
    assert all(same[f"layer{i}"].item() < 1e-9 for i in range(3))
    joint = teacher.answer_losses(merged, ids, labels, 2, None, 3, 0.3)
    assert torch.allclose(same["mtp"], joint["mtp"]) and same["aux"] == joint["aux"]
    out = imitation(other, teacher, merged, ids, labels, 2, 3)
    assert all(out[f"layer{i}"].item() > 0.1 for i in range(3))
    assert set(out) == {"layer0", "layer1", "layer2", "aux", "mtp"}
    out["layer1"].backward()
    assert not any(p.grad is not None for p in teacher.parameters())
    assert {n.split(".")[3] for n, p in other.named_parameters() if p.grad is not None} == {"1"}


def test_a_stacked_student_corrects_what_the_layers_below_do():
    teacher, student, other = small_model(), small_model(), small_model(2)
    ids, merged = torch.randint(0, 40, (2, 12)), torch.randn(2, 3, SMALL.hidden)
    labels = ids[:, -5:].clone()
    same = imitation(student, teacher, merged, ids, labels, 2, 3, own_inputs=True)
    assert all(same[f"layer{i}"].item() < 1e-9 for i in range(3))
    joint = teacher.answer_losses(merged, ids, labels, 2, None, 3, 0.3)
    for name in ("loss", "hit", "aux", "mtp"):
        assert torch.allclose(same[name], joint[name]), name
    out = imitation(other, teacher, merged, ids, labels, 2, 0, own_inputs=True)
    out["layer1"].backward()
    touched = {n.split(".")[3] for n, p in other.named_parameters() if p.grad is not None}
    assert {"0", "1"} <= touched and "2" not in touched


@pytest.mark.parametrize("name", MODELS)
def test_an_exported_model_is_read_back(tmp_path, name):
    torch.manual_seed(3)
    model = new_model(name).eval()
    export(model.state_dict(), TOKENIZER, tmp_path, torch.float32, name)
    assert read_config(tmp_path) == model.config
    again = load_snapshot(tmp_path).state_dict()
    for name, value in model.state_dict().items():
        if not name.startswith(("ctc_", "model.visual.patch_embed")):
            assert torch.equal(value, again[name]), name


def test_a_run_takes_from_the_other_recipe_what_fits(tmp_path):
    model = new_model("minillm")
    before = {k: v.clone() for k, v in model.state_dict().items()}
    init_from(model, SNAPSHOT, None)
    after, theirs = model.state_dict(), load_snapshot(SNAPSHOT).state_dict()
    taken = {k for k in before if not torch.equal(before[k], after[k])}
    assert all(torch.equal(after[k], theirs[k]) for k in taken)
    for name in ("model.visual.merger.proj.weight", "lm_head.weight"):
        assert name in taken
    assert not any("kv_a_proj" in k or "mtp_layers" in k for k in taken)


def test_a_snapshot_of_an_unknown_kind_is_refused(tmp_path):
    (tmp_path / "config.json").write_text('{"text_config": {"model_type": "other_text"}}')
    with pytest.raises(ValueError, match="other"):
        read_config(tmp_path)


def test_drafting_never_changes_the_answer(tok):
    torch.manual_seed(4)
    decoder = Decoder(new_model("minillm").eval(), make_prompt(tok))
    images = np.random.default_rng(1).integers(0, 256, (2, 28, 84), dtype=np.uint8)
    plain = [decoder.run(image, limit=24)[0] for image in images]
    for drafts in (1, 3, 5):
        ids, rounds = decoder.run(images[0], drafts=drafts, limit=24)
        assert ids[:24] == plain[0][:24]
        assert all(0 <= r <= min(drafts, 3) for r in rounds)
    assert decoder.run_batch(images, limit=24) == plain


def test_routers_are_no_hidden_matrices():
    names = [n for n, p in new_model("minillm").named_parameters() if p.ndim == 2]
    hidden = {n for n in names if HIDDEN.search(n)}
    assert "model.language_model.layers.1.mlp.gate.weight" not in hidden
    for part in ("layers.0.mlp.gate_up_proj", "mtp_layers.2.down_proj", "self_attn.kv_b_proj"):
        assert any(part in n for n in hidden), part
