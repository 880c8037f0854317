"""Small helpers shared by all exporters: deterministic set-up, .npy/.json writing, error measures."""
import json
import os
import random
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import numpy as np
import torch
import transformers

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
torch.set_num_threads(1)
torch.set_grad_enabled(False)

GOLDEN = Path(__file__).resolve().parents[3] / "tests" / "golden"


def seed_all(seed):
    """Seed Python, numpy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def to_numpy(x):
    """Tensor or array -> C-contiguous little-endian float32 / int32 / int64 / uint8 array."""
    a = x.detach().cpu().numpy() if isinstance(x, torch.Tensor) else np.asarray(x)
    if a.dtype == np.float64:
        a = a.astype(np.float32)
    if a.dtype not in (np.float32, np.int32, np.int64, np.uint8):
        raise TypeError(f"unexpected dtype {a.dtype}")
    return np.asarray(a, dtype=a.dtype.newbyteorder("<"), order="C")


class Case:
    """One folder of arrays with a golden.json that names file, shape, dtype and tolerance of each."""

    def __init__(self, folder, **meta):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.meta = dict(meta)
        self.arrays = {}

    def add(self, name, x, atol=None, note=None, file=None, error_f64=None):
        """Write one array (unless `file` names an already written one) and describe it."""
        a = to_numpy(x)
        entry = {"file": file or f"{name}.npy", "shape": list(a.shape), "dtype": str(a.dtype)}
        if file is None:
            np.save(self.folder / f"{name}.npy", a)
        if error_f64 is not None:
            entry["f32_vs_f64"] = error_f64
        if atol is not None:
            entry["atol"] = atol
        if note:
            entry["note"] = note
        self.arrays[name] = entry

    def save(self):
        """Write golden.json."""
        write_json(self.folder / "golden.json", {**self.meta, "arrays": self.arrays})


def write_json(path, value, indent=1):
    """UTF-8 JSON; lists of scalars stay on one line."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(pretty(value) + "\n", encoding="utf-8")


def pretty(v, level=0):
    """JSON text with nested objects indented and flat lists on one line."""
    pad = " " * (level + 1)
    if isinstance(v, dict) and v:
        if level > 1 and all(not isinstance(x, (dict, list)) for x in v.values()):
            return json.dumps(v, ensure_ascii=False)
        rows = [f"{pad}{json.dumps(str(k), ensure_ascii=False)}: {pretty(x, level + 1)}" for k, x in v.items()]
        return "{\n" + ",\n".join(rows) + "\n" + " " * level + "}"
    if isinstance(v, list) and v and any(isinstance(x, (dict, list)) for x in v):
        rows = [pad + pretty(x, level + 1) for x in v]
        return "[\n" + ",\n".join(rows) + "\n" + " " * level + "]"
    return json.dumps(v, ensure_ascii=False)


def error(a, b):
    """Max absolute difference, and that divided by the largest magnitude of the reference b."""
    a, b = torch.as_tensor(a).double(), torch.as_tensor(b).double()
    d = float((a - b).abs().max()) if a.numel() else 0.0
    return {"max_abs": float(f"{d:.3g}"), "max_rel": float(f"{d / max(float(b.abs().max()), 1e-30):.3g}")}


def tolerance(err, scale):
    """Recommended atol: 20 x the measured f32-vs-f64 difference, at least 1e-6 of the array's largest value, 2 digits."""
    return float(f"{max(20 * err['max_abs'], 1e-6 * float(scale), 1e-6):.1e}")
