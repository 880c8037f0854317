#!/usr/bin/env python3
"""Writes the sample images of the reader tests: small files of every kind that is read, the pixels expected of each, and
samples.json, which lists them.

    pip install pillow numpy        # made with Pillow 13.0.0, numpy 2.4.6
    apt-get install libtiff-tools qpdf libopenjp2-tools   # tiffcp, tiffset; qpdf; opj_compress
    python3 make_samples.py         # writes into the script's folder

Everything is drawn here, nothing is downloaded. Lossless files are expected to give back what was drawn; lossy ones what
Pillow decodes. Where Pillow reads a lossless file too, the script checks that it agrees.
"""
import io
import json
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).resolve().parent
W, H = 37, 29
samples = []


def drawing(w=W, h=H, seed=1):
    """RGB [h, w, 3]: ramps, blocks and noise, no two corners alike."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:h, 0:w]
    rgb = np.stack([x * 255 // w, y * 255 // h, (x * 3 + y * 5) % 256], -1).astype(np.int64)
    rgb[2:8, 3:12] = (250, 20, 30)
    rgb[15:22, 20:33] = (10, 20, 240)
    rgb[20:, :5] = 255
    return np.clip(rgb + rng.integers(-6, 7, rgb.shape), 0, 255).astype(np.uint8)


RGB = drawing()
GRAY = RGB[..., 0] // 2 + RGB[..., 1] // 2
ALPHA = np.clip(np.mgrid[0:H, 0:W][1] * 8, 0, 255).astype(np.uint8)
RGB16 = (RGB.astype(np.uint16) << 8) + 37
GRAY16 = (GRAY.astype(np.uint16) << 8) + 211


def levels(bits):
    """Drawing in gray levels of `bits` bits."""
    return (GRAY >> (8 - bits)).astype(np.uint8)


def spread(a, bits):
    """Gray levels of `bits` bits over 0..255, as RGB."""
    return np.repeat((a.astype(np.int64) * (255 // ((1 << bits) - 1))).astype(np.uint8)[..., None], 3, -1)


def gray_rgb(a):
    return np.repeat(a[..., None], 3, -1)


def palette(bits):
    """Colours of a palette image: [2^bits, 3]."""
    n = 1 << bits
    return np.stack([np.arange(n) * 255 // max(n - 1, 1), 255 - np.arange(n) * 200 // n, np.arange(n) * 97 % 256], -1).astype(np.uint8)


def pack(a, bits, row_align=1):
    """[h, n] samples of `bits` bits -> rows of bytes, most significant bit first, padded to row_align bytes."""
    out = []
    for row in a:
        text = "".join(format(int(v), f"0{bits}b") for v in row)
        text += "0" * (-len(text) % (8 * row_align))
        out.append(bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8)))
    return out


def put(name, data, expected, **extra):
    """One sample. `expected`: an array, or None for what Pillow decodes; extra: dpi, white (expected on white)."""
    (HERE / name).write_bytes(data)
    pil = None
    if extra.pop("pillow", True):
        from PIL import ImageOps
        pil = np.array(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
    if expected is None:
        expected = pil
    elif pil is not None:
        assert np.array_equal(pil, expected), f"{name}: Pillow decodes it differently"
    row = {"file": name, "expected": store(expected)}
    if "white" in extra:
        row["expected_on_white"] = store(extra.pop("white"))
    row.update(extra)
    samples.append(row)


stored = {}


def store(a):
    """Saves an array once; returns its file name."""
    a = np.ascontiguousarray(a, dtype=np.uint8)
    assert a.ndim == 3 and a.shape[2] == 3
    key = (a.shape, a.tobytes())
    if key not in stored:
        stored[key] = f"expected/{len(stored):02d}.npy"
        np.save(HERE / stored[key], a)
    return stored[key]


def on_white(rgb, alpha):
    rgba = Image.fromarray(np.dstack([rgb, alpha]))
    return np.array(Image.alpha_composite(Image.new("RGBA", rgba.size, (255, 255, 255)), rgba).convert("RGB"))


def saved(image, kind, **options):
    b = io.BytesIO()
    image.save(b, kind, **options)
    return b.getvalue()


# ---- PNG

ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png(samples_, bits, colour_type, interlaced=False, before=(), after=()):
    """PNG bytes of [h, w, channels] samples; before/after: chunks around the pixels."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    h, w, c = samples_.shape
    raw = b""
    for x0, y0, dx, dy in ADAM7 if interlaced else [(0, 0, 1, 1)]:
        part = samples_[y0::dy, x0::dx]
        if part.size == 0:
            continue
        raw += b"".join(b"\0" + row for row in pack(part.reshape(part.shape[0], -1), bits))
    head = struct.pack(">IIBBBBB", w, h, bits, colour_type, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunk(n, d) for n, d in before)
            + chunk(b"IDAT", zlib.compress(raw, 9)) + b"".join(chunk(n, d) for n, d in after) + chunk(b"IEND", b""))


def exif(orientation, big_endian=False):
    """A TIFF structure with one tag."""
    order = ">" if big_endian else "<"
    return (b"MM\0*" if big_endian else b"II*\0") + struct.pack(order + "IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def turned(rgb, orientation):
    return {1: rgb, 2: rgb[:, ::-1], 3: rgb[::-1, ::-1], 4: rgb[::-1], 5: rgb.transpose(1, 0, 2), 6: rgb[::-1].transpose(1, 0, 2),
            7: rgb[::-1, ::-1].transpose(1, 0, 2), 8: rgb.transpose(1, 0, 2)[::-1]}[orientation]


def make_png():
    phys = (b"pHYs", struct.pack(">IIB", 11811, 5906, 1))  # 300 and 150 dpi
    for bits in (1, 2, 4):
        a = levels(bits)
        put(f"gray{bits}.png", png(a[..., None], bits, 0), spread(a, bits))
        put(f"gray{bits}.interlaced.png", png(a[..., None], bits, 0, True), spread(a, bits))
    for bits in (1, 2, 4, 8):
        a, p = levels(bits), palette(bits)
        put(f"palette{bits}.png", png(a[..., None], bits, 3, before=[(b"PLTE", p.tobytes())]), p[a])
    put("gray8.png", png(GRAY[..., None], 8, 0, before=[phys]), gray_rgb(GRAY), dpi=[300, 150])
    put("gray16.png", png(GRAY16[..., None], 16, 0), gray_rgb(GRAY), pillow=False)
    put("rgb8.png", png(RGB, 8, 2), RGB)
    put("rgb8.interlaced.png", png(RGB, 8, 2, True), RGB)
    put("rgb16.png", png(RGB16, 16, 2), RGB)
    la = np.dstack([GRAY, ALPHA])
    put("gray8.alpha.png", png(la, 8, 4), gray_rgb(GRAY), white=on_white(gray_rgb(GRAY), ALPHA))
    rgba = np.dstack([RGB, ALPHA])
    put("rgb8.alpha.png", png(rgba, 8, 6), RGB, white=on_white(RGB, ALPHA))
    put("rgb8.alpha.interlaced.png", png(rgba, 8, 6, True), RGB, white=on_white(RGB, ALPHA))
    rgba16 = (rgba.astype(np.uint16) << 8) + 99
    put("rgb16.alpha.png", png(rgba16, 16, 6), RGB, white=on_white(RGB, ALPHA))
    # Transparency without an alpha channel.
    a, p = levels(2), palette(2)
    t = np.array([0, 60, 255, 255], np.uint8)
    put("palette2.trns.png", png(a[..., None], 2, 3, before=[(b"PLTE", p.tobytes()), (b"tRNS", t[:2].tobytes())]), p[a],
        white=on_white(p[a], t[a]))
    put("rgb8.trns.png", png(RGB, 8, 2, before=[(b"tRNS", struct.pack(">HHH", *map(int, RGB[4, 4])))]), RGB,
        white=on_white(RGB, np.where((RGB == RGB[4, 4]).all(-1), 0, 255).astype(np.uint8)))
    for o in (3, 6):
        put(f"exif{o}.png", png(RGB, 8, 2, before=[phys, (b"eXIf", exif(o, o == 6))]), turned(RGB, o),
            dpi=[150, 300] if o == 6 else [300, 150])
    put("exif8.after.png", png(RGB, 8, 2, after=[(b"eXIf", exif(8))]), turned(RGB, 8))
    put("one_pixel.png", png(RGB[:1, :1], 8, 2), RGB[:1, :1])


# ---- JPEG

def make_jpeg():
    big = drawing(61, 43, 2)
    image = Image.fromarray(big)
    put("gray.jpg", saved(image.convert("L"), "JPEG", quality=85, dpi=(200, 100)), None, dpi=[200, 100])
    for name, mode in (("444", "4:4:4"), ("422", "4:2:2"), ("420", "4:2:0")):
        put(f"ycc{name}.jpg", saved(image, "JPEG", quality=80, subsampling=mode), None)
    put("progressive.jpg", saved(image, "JPEG", quality=80, progressive=True), None)
    put("restarts.jpg", saved(image, "JPEG", quality=80, restart_marker_blocks=2), None)
    put("rgb.jpg", saved(image, "JPEG", quality=80, keep_rgb=True), None)
    cmyk = saved(image.convert("CMYK"), "JPEG", quality=80)
    put("cmyk.jpg", cmyk, None)
    # The same numbers read as YCCK: the last byte of the Adobe marker is the transform.
    at = cmyk.index(b"Adobe") + 11
    put("ycck.jpg", cmyk[:at] + b"\x02" + cmyk[at + 1:], None)
    for o in range(2, 9):
        tag = Image.Exif()
        tag[0x0112] = o
        put(f"exif{o}.jpg", saved(Image.fromarray(RGB), "JPEG", quality=90, exif=tag), None)


# ---- TIFF

def tiff(strips, bits, samples_per_pixel, photometric, extra=(), order="<", width=W, height=H):
    """Uncompressed TIFF; strips: bytes of each strip; extra: (tag, type, values)."""
    data = b"".join(strips)
    offsets, at = [], 8
    for s in strips:
        offsets.append(at)
        at += len(s)
    rows_per_strip = len(strips[0]) // -(-width * samples_per_pixel * bits // 8)
    tags = [(256, 4, [width]), (257, 4, [height]), (258, 3, [bits] * samples_per_pixel), (259, 3, [1]), (262, 3, [photometric]),
            (273, 4, offsets), (277, 3, [samples_per_pixel]), (278, 4, [rows_per_strip]),
            (279, 4, [len(s) for s in strips])] + list(extra)
    tags.sort()
    body, tail = b"", b""
    tail_at = 8 + len(data) + 2 + 12 * len(tags) + 4
    for tag, kind, values in tags:
        packed = b"".join(struct.pack(order + {3: "H", 4: "I"}[kind], v) for v in values)
        head = struct.pack(order + "HHI", tag, kind, len(values))
        if len(packed) <= 4:
            body += head + packed.ljust(4, b"\0")
        else:
            body += head + struct.pack(order + "I", tail_at + len(tail))
            tail += packed
    return ((b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8 + len(data)) + data
            + struct.pack(order + "H", len(tags)) + body + struct.pack(order + "I", 0) + tail)


def converted(data, *options, tool="tiffcp"):
    """TIFF bytes through one of libtiff's tools."""
    a, b = HERE / "a.tmp.tif", HERE / "b.tmp.tif"
    a.write_bytes(data)
    if tool == "tiffcp":
        subprocess.run(["tiffcp", *options, str(a), str(b)], check=True)
    else:
        subprocess.run(["tiffset", *options, str(a)], check=True)
        a.rename(b)
    out = b.read_bytes()
    a.unlink(missing_ok=True)
    b.unlink()
    return out


def strips_of(rows, per_strip):
    return [b"".join(rows[i:i + per_strip]) for i in range(0, len(rows), per_strip)]


def make_tiff():
    bits1 = Image.fromarray(levels(1) * 255).convert("1", dither=Image.Dither.NONE)
    one = spread(levels(1), 1)
    for name, kind in (("g3", "group3"), ("g4", "group4"), ("lzw", "tiff_lzw"), ("packbits", "packbits"), ("rle", "tiff_ccitt")):
        put(f"bits1.{name}.tif", saved(bits1, "TIFF", compression=kind, dpi=(600, 300)), one, dpi=[600, 300])
    put("bits1.white.tif", tiff(strips_of(pack(1 - levels(1), 1), 8), 1, 1, 0), one)
    g4 = saved(bits1, "TIFF", compression="group4")
    put("bits1.g4.tiles.tif", converted(g4, "-t", "-w", "16", "-l", "16"), one, pillow=False)
    for bits in (2, 4):
        a, p = levels(bits), palette(bits)
        put(f"gray{bits}.tif", tiff(strips_of(pack(a, bits), 10), bits, 1, 1), spread(a, bits))
        put(f"gray{bits}.white.tif", tiff(strips_of(pack((1 << bits) - 1 - a, bits), 10), bits, 1, 0), spread(a, bits))
        colours = (320, 3, [int(v) * 257 for v in p.T.reshape(-1)])
        put(f"palette{bits}.tif", tiff(strips_of(pack(a, bits), 29), bits, 1, 3, [colours]), p[a], pillow=bits == 4)
    a, p = levels(8), palette(8)
    put("palette8.tif", tiff([a.tobytes()], 8, 1, 3, [(320, 3, [int(v) * 257 for v in p.T.reshape(-1)])]), p[a])
    put("palette8.narrow.tif", tiff([a.tobytes()], 8, 1, 3, [(320, 3, [int(v) for v in p.T.reshape(-1)])]), p[a], pillow=False)
    for order, name in (("<", "little"), (">", "big")):
        put(f"gray16.{name}.tif", tiff(strips_of([r.astype(order + "u2").tobytes() for r in GRAY16], 7), 16, 1, 1, order=order),
            gray_rgb(GRAY), pillow=False)
        put(f"rgb16.{name}.tif", tiff(strips_of([r.astype(order + "u2").tobytes() for r in RGB16], 7), 16, 3, 2, order=order), RGB)
    rgb_strips = strips_of([r.tobytes() for r in RGB], 8)
    rgb = tiff(rgb_strips, 8, 3, 2, [(296, 3, [3])])
    put("rgb8.tif", rgb, RGB)
    put("rgb8.private_tag.tif", tiff(rgb_strips, 8, 3, 2, [(65000, 3, [1])]), RGB)
    put("rgb8.six_samples.planes.tif", converted(tiff([np.dstack([RGB, ALPHA, ALPHA, ALPHA]).tobytes()], 8, 6, 2, [(338, 3, [0, 0, 2])]),
                                                 "-p", "separate"), RGB, white=on_white(RGB, ALPHA), pillow=False)
    for name, kind in (("lzw", "lzw:2"), ("deflate", "zip:2"), ("packbits", "packbits")):
        put(f"rgb8.{name}.tif", converted(rgb, "-c", kind), RGB)
    put("rgb16.lzw.tif", converted(tiff([RGB16.tobytes()], 16, 3, 2), "-c", "lzw:2", "-B"), RGB, pillow=False)
    put("rgb8.tiles.tif", converted(rgb, "-t", "-w", "16", "-l", "32", "-c", "zip"), RGB)
    put("rgb8.planes.tif", converted(rgb, "-p", "separate", "-c", "lzw", "-r", "5"), RGB)
    put("rgb8.planes.tiles.tif", converted(rgb, "-p", "separate", "-t", "-w", "32", "-l", "16"), RGB)
    put("rgb8.bigtiff.tif", converted(rgb, "-8"), RGB)
    put("rgb8.bigtiff.be.tif", converted(rgb, "-8", "-B"), RGB, pillow=False)
    big = Image.fromarray(drawing(61, 43, 2))
    ycc = saved(big, "TIFF", compression="jpeg", quality=80)
    put("jpeg.ycc.tif", ycc, None)
    put("jpeg.rgb.tif", converted(saved(big, "TIFF"), "-c", "jpeg:r:80"), None)
    put("jpeg.gray.tif", saved(big.convert("L"), "TIFF", compression="jpeg", quality=80), None)
    # Converted by libtiff, which rounds otherwise than Pillow.
    put("ycc444.tif", tiff([np.array(Image.fromarray(RGB).convert("YCbCr")).tobytes()], 8, 3, 6, [(530, 3, [1, 1])]), None, tolerance=2)
    cmyk = np.array(Image.fromarray(RGB).convert("CMYK"))
    put("cmyk.tif", tiff(strips_of([r.tobytes() for r in cmyk], 9), 8, 4, 5), None)
    rgba = np.dstack([RGB, ALPHA])
    put("rgb8.alpha.tif", tiff([rgba.tobytes()], 8, 4, 2, [(338, 3, [2])]), RGB, white=on_white(RGB, ALPHA))
    put("rgb8.unused.tif", tiff([rgba.tobytes()], 8, 4, 2, [(338, 3, [0])]), RGB, white=RGB)
    solid = np.where(ALPHA < 120, 0, 255).astype(np.uint8)
    premultiplied = np.dstack([np.where(solid[..., None] > 0, RGB, 0).astype(np.uint8), solid])
    put("rgb8.premultiplied.tif", tiff([premultiplied.tobytes()], 8, 4, 2, [(338, 3, [1])]), premultiplied[..., :3],
        white=on_white(RGB, solid))
    for o in range(2, 9):
        put(f"orientation{o}.tif", tiff(rgb_strips, 8, 3, 2, [(274, 3, [o])]), turned(RGB, o))
    thumbnail, page = HERE / "t.tmp.tif", HERE / "p.tmp.tif"
    thumbnail.write_bytes(tiff([GRAY[::4, ::4].tobytes()], 8, 1, 1, [(254, 4, [1])], width=-(-W // 4), height=-(-H // 4)))
    page.write_bytes(rgb)
    subprocess.run(["tiffcp", str(thumbnail), str(page), str(HERE / "thumbnail.tif")], check=True)
    thumbnail.unlink(), page.unlink()
    samples.append({"file": "thumbnail.tif", "expected": store(RGB)})
    pages = [Image.fromarray(RGB), bits1, Image.fromarray(GRAY)]
    (HERE / "three_pages.tif").write_bytes(saved(pages[0], "TIFF", save_all=True, append_images=pages[1:], compression="tiff_lzw"))
    store(RGB), store(one), store(gray_rgb(GRAY))
    samples.append({"file": "three_pages.tif", "expected_pages": [store(RGB), store(one), store(gray_rgb(GRAY))]})


# ---- WebP

def make_webp():
    put("lossless.webp", saved(Image.fromarray(RGB), "WEBP", lossless=True), RGB)
    put("alpha.webp", saved(Image.fromarray(np.dstack([RGB, ALPHA])), "WEBP", lossless=True, exact=True), RGB,
        white=on_white(RGB, ALPHA))
    big = Image.fromarray(drawing(61, 43, 2))
    put("lossy.webp", saved(big, "WEBP", quality=80), None)
    tag = Image.Exif()
    tag[0x0112] = 6
    put("exif6.webp", saved(Image.fromarray(RGB), "WEBP", lossless=True, exif=tag), turned(RGB, 6))
    (HERE / "animation.webp").write_bytes(saved(big, "WEBP", save_all=True, append_images=[big.rotate(90)], duration=100))


# ---- BMP

def refused(name, data):
    """A file of a kind that is not read."""
    (HERE / "refused" / name).write_bytes(data)


def bmp(body, bits, height, compression=0, colours=b"", masks=b"", header=40, width=W):
    """BMP bytes; body: pixel data; colours: palette; masks: bit fields."""
    if header == 12:
        dib = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        dib = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, len(body), 11811, 5906, len(colours) // 4, 0)
    if header > 40:
        dib = (dib + masks).ljust(header, b"\0")
        masks = b""
    at = 14 + len(dib) + len(masks) + len(colours)
    return struct.pack("<2sIHHI", b"BM", at + len(body), 0, 0, at) + dib + masks + colours + body


def rle8(rows):
    """Runs, literal runs and ends of line, as a writer makes them."""
    out = b""
    for row in rows:
        i = 0
        while i < len(row):
            n = 1
            while i + n < len(row) and n < 255 and row[i + n] == row[i]:
                n += 1
            if n >= 3:
                out += bytes([n, row[i]])
                i += n
                continue
            m = min(len(row) - i, 7)
            if m >= 3:
                out += bytes([0, m]) + bytes(row[i:i + m]) + b"\0" * (m % 2)
            else:
                out += b"".join(bytes([1, v]) for v in row[i:i + m])
            i += m
        out += b"\0\0"
    return out + b"\0\1"


def rle4(rows):
    out = b""
    for row in rows:
        for i in range(0, len(row), 6):
            part = [int(v) for v in row[i:i + 6]]
            if len(part) < 3:
                out += b"".join(bytes([1, v << 4]) for v in part)
                continue
            if len(set(part[::2])) == 1 and len(set(part[1::2])) == 1:
                out += bytes([len(part), part[0] << 4 | part[1]])
                continue
            packed = part + [0] * (len(part) % 2)
            data = bytes(a << 4 | b for a, b in zip(packed[::2], packed[1::2]))
            out += bytes([0, len(part)]) + data + b"\0" * (len(data) % 2)
        out += b"\0\0"
    return out + b"\0\1"


def make_bmp():
    dpi = [300, 150]
    bgr = lambda p: b"".join(bytes([c[2], c[1], c[0], 0]) for c in p.tolist())
    for bits in (1, 4, 8):
        a, p = levels(bits), palette(bits)
        put(f"bits{bits}.bmp", bmp(b"".join(pack(a[::-1], bits, 4)), bits, H, colours=bgr(p)), p[a], dpi=dpi)
    a, p = levels(8) >> 3, palette(5)
    put("bits8.short_palette.bmp", bmp(b"".join(pack(a[::-1], 8, 4)), 8, H, colours=bgr(p)), p[a])
    a, p = levels(4), palette(4)
    core = b"".join(bytes([c[2], c[1], c[0]]) for c in p.tolist())
    refused("bits4.core.bmp", bmp(b"".join(pack(a[::-1], 4, 4)), 4, H, colours=core, header=12))
    refused("rle4.bmp", bmp(rle4(a[::-1]), 4, H, 2, bgr(p)))
    a, p = levels(3), palette(8)
    refused("rle8.bmp", bmp(rle8(a[::-1].tolist()), 8, H, 1, bgr(p)))
    b, g, r = (RGB[..., i].astype(np.uint16) for i in (2, 1, 0))
    five = lambda v: v >> 3
    rows16 = lambda a: b"".join(r.astype("<u2").tobytes() + b"\0" * (-2 * len(r) % 4) for r in a[::-1])
    refused("bits16.bmp", bmp(rows16(five(r) << 10 | five(g) << 5 | five(b)), 16, H))
    row24 = lambda a: [r[:, ::-1].tobytes() + b"\0" * (-3 * len(r) % 4) for r in a]
    put("bits24.bmp", bmp(b"".join(row24(RGB[::-1])), 24, H), RGB)
    put("bits24.top_down.bmp", bmp(b"".join(row24(RGB)), 24, -H), RGB)
    put("bits24.v5.bmp", bmp(b"".join(row24(RGB[::-1])), 24, H, header=124), RGB)
    bgrx = np.dstack([RGB[..., ::-1], np.zeros((H, W), np.uint8)])[::-1].tobytes()
    put("bits32.bmp", bmp(bgrx, 32, H), RGB, white=RGB)
    bgra = np.dstack([RGB[..., ::-1], ALPHA])[::-1].tobytes()
    masks = struct.pack("<IIII", 0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    refused("bits32.v4.bmp", bmp(bgra, 32, H, 3, masks=masks, header=108))


# ---- JPEG 2000

def raw_j2k(planes, bits, signed=False, steps=()):
    """Lossless codestream of planes [h, w], each with its steps on the reference grid, by opj_compress."""
    steps = steps or [(1, 1)] * len(planes)
    kind = ("<" if bits <= 8 else ">") + ("i" if signed else "u") + ("1" if bits <= 8 else "2")
    with tempfile.TemporaryDirectory() as folder:
        raw, out = Path(folder) / "a.raw", Path(folder) / "a.j2k"
        raw.write_bytes(b"".join(p.astype(kind).tobytes() for p in planes))
        h, w = planes[0].shape
        layout = f"{w},{h},{len(planes)},{bits},{'s' if signed else 'u'}" + "@" + ":".join(f"{x}x{y}" for x, y in steps)
        subprocess.run(["opj_compress", "-i", str(raw), "-o", str(out), "-F", layout, "-n", "3", "-mct", "0"], check=True, stdout=subprocess.DEVNULL)
        return out.read_bytes()


def box(name, *content):
    data = b"".join(content)
    return struct.pack(">I", 8 + len(data)) + name + data


def jp2(codestream, w, h, channels, bits, colour, *more, brand=b"jp2 "):
    """A file around a codestream; colour: a number of the standard, or a profile's bytes."""
    spec = b"\1\0\0" + struct.pack(">I", colour) if isinstance(colour, int) else b"\2\0\0" + colour
    head = box(b"ihdr", struct.pack(">IIHBBBB", h, w, channels, bits - 1, 7, 0, 0)) + box(b"colr", spec)
    return (box(b"jP  ", b"\r\n\x87\n") + box(b"ftyp", brand, b"\0\0\0\0", brand) + box(b"jp2h", head, *more)
            + box(b"xml ", b"<about>" + b"x" * 5000 + b"</about>") + box(b"jp2c", codestream))


def j2k(image, **options):
    return saved(image, "JPEG2000", no_jp2=True, irreversible=False, **options)


def make_jpeg2000():
    red, green, blue = (RGB[..., i] for i in range(3))
    pil = Image.fromarray
    put("rgb.jp2", saved(pil(RGB), "JPEG2000"), RGB)
    put("rgb.j2k", j2k(pil(RGB)), RGB)
    put("rgb.tiles.jp2", saved(pil(RGB), "JPEG2000", tile_size=(16, 16), num_resolutions=2), RGB)
    put("rgb.lossy.jp2", saved(pil(RGB), "JPEG2000", irreversible=True, quality_mode="rates", quality_layers=[8, 4]), None, tolerance=1)
    put("gray.jp2", saved(pil(GRAY), "JPEG2000"), gray_rgb(GRAY))
    rgba = np.dstack([RGB, ALPHA])
    put("rgb.alpha.jp2", saved(pil(rgba), "JPEG2000"), RGB, white=on_white(RGB, ALPHA))
    la = pil(np.dstack([GRAY, ALPHA]), mode="LA")
    put("gray.alpha.jp2", saved(la, "JPEG2000"), gray_rgb(GRAY), white=on_white(gray_rgb(GRAY), ALPHA))
    # Pillow keeps gray of more than 8 bits and shifts that of fewer, so that white would be gray.
    put("gray16.j2k", raw_j2k([GRAY16], 16), gray_rgb((GRAY16 >> 8).astype(np.uint8)), pillow=False)
    put("rgb12.j2k", raw_j2k([(RGB16[..., i] >> 4) for i in range(3)], 12), (RGB16 >> 8).astype(np.uint8), pillow=False)
    for bits in (2, 4):
        put(f"gray{bits}.j2k", raw_j2k([levels(bits)], bits), spread(levels(bits), bits), pillow=False)
    put("gray.signed.j2k", raw_j2k([GRAY.astype(np.int16) - 128], 8, signed=True), gray_rgb(GRAY), pillow=False)
    # Colour differences at every other point of every other row; each stands for those up to the next.
    luma = GRAY[:28, :36]
    cb, cr = RGB[:28:2, :36:2, 0], RGB[:28:2, :36:2, 2]
    wide = [np.repeat(np.repeat(c, 2, 0), 2, 1).astype(np.int64) - 128 for c in (cb, cr)]
    y = luma.astype(np.int64) << 16
    ycc = np.stack([y + 91881 * wide[1], y - 22554 * wide[0] - 46802 * wide[1], y + 116130 * wide[0]], -1)
    expected = np.clip((ycc + 32768) >> 16, 0, 255).astype(np.uint8)
    code = raw_j2k([luma, cb, cr], 8, steps=[(1, 1), (2, 2), (2, 2)])
    put("ycc420.jp2", jp2(code, 36, 28, 3, 8, 18), expected, pillow=False)
    ink = 255 - RGB[..., ::-1]
    black = (255 - ALPHA) // 2
    cmyk = [ink[..., 0], ink[..., 1], ink[..., 2], black]
    expected = np.array(Image.merge("CMYK", [pil(c) for c in cmyk]).convert("RGB"))
    put("cmyk.jp2", jp2(raw_j2k(cmyk, 8), W, H, 4, 8, 12), expected, pillow=False)
    p = palette(4)
    columns = struct.pack(">HB", 16, 3) + b"\7\7\7" + p.tobytes()
    mapping = b"".join(struct.pack(">HBB", 0, 1, i) for i in range(3))
    put("palette4.jp2", jp2(raw_j2k([levels(4)], 4), W, H, 1, 4, 16, box(b"pclr", columns), box(b"cmap", mapping)), p[levels(4)], pillow=False)
    # Blue, green, red, as the definitions say; a resolution of 300 x 200 to the inch, captured.
    order = struct.pack(">H", 3) + b"".join(struct.pack(">HHH", i, 0, 3 - i) for i in range(3))
    capture = struct.pack(">HHHHbb", 20000, 254, 30000, 254, 2, 2)
    screen = struct.pack(">HHHHbb", 72, 1, 72, 1, 0, 0)
    res = box(b"res ", box(b"resd", screen), box(b"resc", capture))
    put("bgr.jp2", jp2(raw_j2k([blue, green, red], 8), W, H, 3, 8, 16, box(b"cdef", order), res), RGB, pillow=False, dpi=[300, 200])
    profile = lambda space: b"\0" * 16 + space + b"\0" * 108
    put("gray.profile.jpx", jp2(raw_j2k([GRAY], 8), W, H, 1, 8, profile(b"GRAY"), brand=b"jpx "), gray_rgb(GRAY), pillow=False)
    refused("lab.jp2", jp2(raw_j2k([red, green, blue], 8), W, H, 3, 8, 14))
    refused("lab.profile.jp2", jp2(raw_j2k([red, green, blue], 8), W, H, 3, 8, profile(b"Lab ")))
    refused("six_components.j2k", raw_j2k([red, green, blue] * 2, 8))
    premultiplied = struct.pack(">H", 4) + b"".join(struct.pack(">HHH", i, 0, i + 1) for i in range(3)) + struct.pack(">HHH", 3, 2, 0)
    refused("premultiplied.jp2", jp2(raw_j2k([red, green, blue, ALPHA], 8), W, H, 4, 8, 16, box(b"cdef", premultiplied)))
    refused("two_of_three.jp2", jp2(raw_j2k([red, green], 8), W, H, 2, 8, 16))


# ---- GIF

def make_gif():
    def indexed(bits):
        image = Image.fromarray(levels(bits)).convert("L")
        image.putpalette(palette(bits).tobytes())
        return image

    for bits in (1, 4, 8):
        expected = palette(bits)[levels(bits)]
        put(f"palette{bits}.gif", saved(indexed(bits), "GIF", optimize=False, interlace=0), expected)
    put("interlaced.gif", saved(indexed(4), "GIF", optimize=False, interlace=1), palette(4)[levels(4)])
    white = palette(4)
    white[3] = 255
    put("transparent.gif", saved(indexed(4), "GIF", optimize=False, transparency=3), palette(4)[levels(4)], white=white[levels(4)])


# ---- PDF

def pdf(pages, extra=b""):
    """PDF bytes; pages: (media box, page entries, content)."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>",
               b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(b"%d 0 R" % (3 + 2 * i) for i in range(len(pages))), len(pages))]
    for i, (box, entries, content) in enumerate(pages):
        objects.append(b"<< /Type /Page /Parent 2 0 R /MediaBox %s %s /Contents %d 0 R >>" % (box, entries, 4 + 2 * i))
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    out, offsets = b"%PDF-1.4\n", []
    for i, o in enumerate(objects):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (i + 1, o)
    at = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % o for o in offsets)
    return out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, at)


def make_pdf():
    # 72 x 36 points: the left half red; 36 x 72 points turned by 90 degrees and cropped, blue at its lower end.
    pages = [(b"[0 0 72 36]", b"", b"1 0 0 rg 0 0 36 36 re f"),
             (b"[0 0 100 100]", b"/CropBox [10 10 46 82] /Rotate 90", b"0 0 1 rg 0 0 100 46 re f")]
    path = HERE / "two_pages.pdf"
    path.write_bytes(pdf(pages))
    for name, passwords in (("encrypted.pdf", ["secret", "owner"]), ("owner_password.pdf", ["", "owner"])):
        subprocess.run(["qpdf", "--encrypt", *passwords, "256", "--", "--static-id", "--static-aes-iv", str(path), str(HERE / name)], check=True)


def main():
    (HERE / "expected").mkdir(exist_ok=True)
    (HERE / "refused").mkdir(exist_ok=True)
    for old in [*HERE.glob("expected/*.npy"), *(p for p in HERE.iterdir() if p.suffix[1:] in ("png", "jpg", "tif", "webp", "bmp", "jp2", "j2k", "jpx", "gif", "pdf"))]:
        old.unlink()
    for make in (make_png, make_jpeg, make_tiff, make_webp, make_bmp, make_jpeg2000, make_gif, make_pdf):
        make()
    rows = ",\n ".join(json.dumps(s) for s in samples)
    (HERE / "samples.json").write_text('{"samples": [\n ' + rows + "\n]}\n")


if __name__ == "__main__":
    main()
