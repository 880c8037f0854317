"""Snapshots of the second recipe in platen itself; needs a built program (PLATEN or build/bin)."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw, ImageFont
from tokenizers import Tokenizer

from batches import make_prompt
from decode import Decoder
from export import export
from model import MiniOcr
from snapshot import load_snapshot, new_model
from state import init_from

ROOT = Path(__file__).resolve().parents[3]
BUNDLED = ROOT / "assets" / "platen-mini"
TOKENIZER = BUNDLED / "tokenizer.json"
PLATEN = Path(os.environ.get("PLATEN", ROOT / "build" / "bin" / "platen"))
TOKENS = 24
HEAD_ROUNDS = 8

pytestmark = pytest.mark.skipif(not PLATEN.exists(), reason=f"{PLATEN} is not there")


def platen(*args: object) -> subprocess.CompletedProcess:
    """What the program says; its exit status must be 0."""
    run = subprocess.run([PLATEN, *map(str, args)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr + run.stdout
    return run


def warm(model: MiniOcr) -> None:
    """Branches and heads large enough that a mistake in them shows."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if ".language_model." in name and name.endswith(("down_proj.weight", "o_proj.weight")):
                p.normal_(std=0.3 * p.shape[1] ** -0.5)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory) -> Path:
    """The bundled vision tower before a random decoder."""
    folder = tmp_path_factory.mktemp("snapshot")
    torch.manual_seed(11)
    model = new_model("minillm")
    warm(model)
    init_from(model, BUNDLED, None)
    export(model.state_dict(), TOKENIZER, folder, torch.float32, "minillm")
    return folder


@pytest.fixture(scope="module")
def line() -> np.ndarray:
    """A crop of 28 x 168 pixels with print."""
    image = Image.new("L", (168, 28), 255)
    ImageDraw.Draw(image).text((4, 2), "Letters 1827", 0, ImageFont.load_default(18))
    return np.array(image)


@pytest.fixture(scope="module")
def dump(snapshot, line, tmp_path_factory) -> Path:
    """Arrays and tokens of one request."""
    folder = tmp_path_factory.mktemp("dump")
    Image.fromarray(line).save(folder / "line.png")
    platen("forward", snapshot, "--image", folder / "line.png", "--precision", "f32", "-j", 1,
           "--max-new-tokens", TOKENS, "--ignore-stop", "--draft-length", 3, "--dump", folder,
           "--logits", "all")  # fmt: skip
    return folder


def test_inspect_finds_every_tensor(snapshot):
    report = platen("inspect", snapshot).stdout
    for fact in ("MiniLLM behind GLM-OCR's images", "2 of 8, 64 wide, in 3 layers, 4 shared",
                 "3 residual heads"):  # fmt: skip
        assert fact in report


def test_the_programs_logits_are_torchs(snapshot, line, dump):
    model = load_snapshot(snapshot)
    prompt = make_prompt(Tokenizer.from_file(str(TOKENIZER)))
    ids = prompt.before + [prompt.image] * (line.shape[1] // 28) + prompt.after
    assert np.load(dump / "input_ids.npy").tolist() == ids
    with torch.no_grad():
        merged, _ = model.encode(torch.from_numpy(line[None].copy()))
        hidden, _, _ = model.trunk(merged, torch.tensor([ids]), len(prompt.before))
        logits = model.lm_head(hidden)[0].numpy()
    assert np.abs(np.load(dump / "vision_embeds.npy") - merged[0].numpy()).max() < 1e-3
    assert np.abs(np.load(dump / "hidden.npy") - hidden[0].numpy()).max() < 2e-3
    assert np.abs(np.load(dump / "logits.npy")[: len(ids)] - logits).max() < 5e-3


def test_the_programs_answer_and_drafts_are_torchs(snapshot, line, dump):
    model = load_snapshot(snapshot)
    prompt = make_prompt(Tokenizer.from_file(str(TOKENIZER)))
    decoder = Decoder(model, prompt)
    decoder.stops = ()
    answer = decoder.run(line, limit=TOKENS)[0]
    result = json.loads((dump / "result.json").read_text())
    assert result["tokens"] == answer
    ids = torch.tensor([np.load(dump / "input_ids.npy").tolist() + answer])
    with torch.no_grad():
        merged, _ = model.encode(torch.from_numpy(line[None].copy()))
        hidden, _, _ = model.trunk(merged, ids, len(prompt.before))
        guesses = model.model.language_model.guesses(hidden[0], 3)
        wanted = torch.stack([model.lm_head(g).argmax(-1) for g in guesses], 1).tolist()
    row = len(ids[0]) - TOKENS - 1  # tells the first token of the answer
    # Later rounds may draft from what was written before instead of from bad heads.
    for drafted in result["rounds"][:HEAD_ROUNDS]:
        assert drafted["drafts"] == wanted[row]
        row += len(drafted["emitted"])


def test_a_page_is_read_through_ocr(snapshot, tmp_path):
    page = Image.new("L", (600, 300), 255)
    ImageDraw.Draw(page).text((60, 120), "One line of print", 0, ImageFont.load_default(32))
    page.save(tmp_path / "page.png")
    text = platen("ocr", tmp_path / "page.png", "--model", snapshot, "--format", "json").stdout
    assert json.loads(text)["pages"], text
