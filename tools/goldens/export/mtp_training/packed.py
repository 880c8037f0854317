"""Packed arrays: all tensors of one kind in one flat float64 .npy with a table of parts (name, offset, shape, tolerances)."""
import numpy as np
import torch
from ..common import write_json


def largest(x):
    return float(x.abs().max()) if x.numel() else 0.0


def rms_of(x):
    return float((x.double() ** 2).mean() ** 0.5)


def digits(x, n=3):
    return float(f"{float(x):.{n}g}")


def tolerances(x, f32, noise):
    """Measured errors and recommended tolerances of one float64 array. `f32`: the same computed in float32; `noise`: in float64 from
    inputs changed by 1e-15."""
    scale = largest(x)
    e32 = largest(f32.double() - x) if f32 is not None else None
    e64 = largest(noise - x) if noise is not None else None
    out = {"largest": digits(scale)}
    if e32 is not None:
        out["f32_vs_f64"] = digits(e32)
        out["atol"] = digits(max(20 * e32, 1e-6 * scale, 1e-12), 2)
        if x.numel() > 8:
            out["rms_atol"] = digits(max(20 * rms_of(f32.double() - x), 1e-6 * rms_of(x), 1e-12), 2)
    if e64 is not None:
        out["f64_noise"] = digits(e64)
        out["atol_f64"] = digits(max(20 * e64, 1e-11 * scale, 1e-15), 2)
    return out


class Folder:
    """One golden folder: arrays, packed sets, golden.json."""

    def __init__(self, path, **meta):
        self.path, self.meta, self.arrays, self.packed = path, dict(meta), {}, {}
        path.mkdir(parents=True, exist_ok=True)

    def save_npy(self, name, x):
        a = x.detach().cpu().numpy() if isinstance(x, torch.Tensor) else np.asarray(x)
        a = {np.dtype(bool): a.astype(np.uint8)}.get(a.dtype, a)
        np.save(self.path / f"{name}.npy", np.ascontiguousarray(a))
        return {"file": f"{name}.npy", "shape": list(a.shape), "dtype": str(a.dtype)}

    def given(self, name, x, note=None):
        """An input or an exact integer result."""
        self.arrays[name] = {**self.save_npy(name, x), **({"note": note} if note else {})}

    def add(self, name, x, f32, noise=None, note=None, store=torch.float32):
        """A float result: computed in float64, stored as `store`."""
        self.arrays[name] = {**self.save_npy(name, x.to(store)), **tolerances(x, f32, noise if store == torch.float64 else None),
                             **({"note": note} if note else {})}

    def pack(self, name, tensors, f32, noise, note=None, store=torch.float64):
        """{name: float64 tensor} as one flat array."""
        flat, parts, at = [], [], 0
        for k, x in tensors.items():
            parts.append({"name": k, "offset": at, "shape": list(x.shape),
                          **tolerances(x, f32[k] if f32 else None, noise[k] if noise and store == torch.float64 else None)})
            flat.append(x.detach().flatten())
            at += x.numel()
        entry = self.save_npy(name, torch.cat(flat).to(store))
        self.packed[name] = {**entry, **({"note": note} if note else {}), "parts": parts}

    def save(self):
        write_json(self.path / "golden.json", {**self.meta, "arrays": self.arrays, "packed": self.packed})
