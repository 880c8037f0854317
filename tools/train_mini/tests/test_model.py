"""The training model, its snapshot form and the two ways of decoding agree."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from batches import assemble, make_prompt
from charset import CHAR_TO_INDEX
from decode import Decoder
from export import export
from snapshot import load_snapshot, new_model
from state import NEW_CLASS_SHIFT, grow, init_from, save_heads

SNAPSHOT = Path(__file__).resolve().parents[3] / "assets" / "platen-mini"
TOKENIZER = SNAPSHOT / "tokenizer.json"


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    return Tokenizer.from_file(str(TOKENIZER))


@pytest.fixture(scope="module")
def image() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (28, 84), dtype=np.uint8)


def test_an_exported_model_computes_the_same(tmp_path, image):
    torch.manual_seed(1)
    model = new_model().eval()
    export(model.state_dict(), TOKENIZER, tmp_path, torch.float32)
    batch = torch.from_numpy(image[None])
    with torch.no_grad():
        assert torch.allclose(
            model.encode(batch)[0], load_snapshot(tmp_path).encode(batch)[0], atol=2e-5
        )


def test_a_run_can_start_from_a_snapshot_and_its_heads(tmp_path):
    torch.manual_seed(2)
    model = new_model()
    export(model.state_dict(), TOKENIZER, tmp_path, torch.float32)
    save_heads(tmp_path / "state", model.state_dict())
    other = new_model()
    init_from(other, tmp_path, tmp_path / "state")
    for name, value in model.state_dict().items():
        assert torch.allclose(value, other.state_dict()[name], atol=0.01), name


def test_heads_of_a_smaller_alphabet_grow_by_letters_like_their_base():
    names, steps = list(CHAR_TO_INDEX), 2
    known = names.index("ą") + 1  # classes of an alphabet that ends before it, with the blank
    bias = torch.arange(steps * known, dtype=torch.float32)
    grown = grow(bias, steps).view(steps, -1)
    assert grown.shape[1] == len(names) + 1
    assert torch.equal(grown[:, :known], bias.view(steps, -1))
    for letter, base in {"ą": "a", "Ž": "Z", "ő": "o", "ł": ",", "„": ","}.items():
        expected = bias.view(steps, -1)[:, CHAR_TO_INDEX[base]] - NEW_CLASS_SHIFT
        assert torch.equal(grown[:, CHAR_TO_INDEX[letter]], expected)
    weight = torch.randn(steps * known, 5)
    grown = grow(weight, steps).view(steps, -1, 5)
    assert torch.equal(grown[:, CHAR_TO_INDEX["ą"]], grown[:, CHAR_TO_INDEX["a"]])
    full = torch.randn(steps * (len(names) + 1))
    assert torch.equal(grow(full, steps), full)
    with pytest.raises(ValueError, match="classes"):
        grow(torch.randn(steps * (len(names) + 2)), steps)


def test_a_snapshot_without_a_layer_is_refused(tmp_path):
    state = {k: v for k, v in new_model().state_dict().items() if "blocks.3." not in k}
    export(state, TOKENIZER, tmp_path)
    with pytest.raises(ValueError, match="blocks.3"):
        load_snapshot(tmp_path)


def test_drafting_never_changes_the_answer(tok, image):
    decoder = Decoder(load_snapshot(SNAPSHOT), make_prompt(tok))
    plain, _ = decoder.run(image, limit=24)
    for drafts in (1, 3, 5):
        ids, rounds = decoder.run(image, drafts=drafts, limit=24)
        assert ids[:24] == plain[:24]
        assert all(0 <= r <= drafts for r in rounds)


def test_lines_read_together_are_read_as_alone(tok):
    decoder = Decoder(load_snapshot(SNAPSHOT), make_prompt(tok))
    images = np.random.default_rng(2).integers(0, 256, (3, 28, 84), dtype=np.uint8)
    alone = [decoder.run(image, limit=24)[0] for image in images]
    assert decoder.run_batch(images, limit=24) == alone
    _, confidence = decoder.run_batch_with_confidence(images, limit=24)
    assert [len(c) for c in confidence] == [len(a) for a in alone]
    assert all(0 < p <= 1 for c in confidence for p in c)


def test_the_bundled_configuration_is_what_export_writes(tmp_path):
    export(new_model().state_dict(), TOKENIZER, tmp_path)
    for name in (
        "config.json",
        "generation_config.json",
        "preprocessor_config.json",
        "tokenizer_config.json",
        "platen.json",
    ):
        assert json.loads((tmp_path / name).read_text()) == json.loads(
            (SNAPSHOT / name).read_text()
        ), name
    assert (tmp_path / "chat_template.jinja").read_text() == (
        SNAPSHOT / "chat_template.jinja"
    ).read_text()


def test_padding_of_shorter_answers_carries_no_label(tok):
    prompt = make_prompt(tok)
    ids, labels = assemble(prompt, 2, [[65, 66, 67], [68]], 0.0)
    assert labels.tolist() == [[65, 66, 67, prompt.stop], [68, prompt.stop, -100, -100]]
    assert ids.shape[1] == len(prompt.before) + 2 + len(prompt.after) + 4


def test_input_noise_leaves_the_labels_alone(tok):
    torch.manual_seed(0)
    prompt = make_prompt(tok)
    clean, labels = assemble(prompt, 1, [[97] * 200], 0.0)
    noisy, same = assemble(prompt, 1, [[97] * 200], 0.5)
    assert torch.equal(labels, same)
    assert 20 < int((clean != noisy).sum()) < 180
