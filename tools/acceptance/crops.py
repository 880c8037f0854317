"""The images of an acceptance run: crops of the sample pages, or files of the user's."""
import json
from pathlib import Path

from PIL import Image, ImageOps

SAMPLES = Path(__file__).resolve().parents[2] / "assets" / "samples"
MAX_PIXELS = 1_000_000  # the reference's attention needs (patches of 14 x 14)^2 x 64 bytes

# name -> (file, box): left, top, right, bottom in pixels
BLOCKS = {"letterhead": ("synthetic/letter-200.jpg", (180, 120, 820, 240)),
          "invoice_table": ("synthetic/invoice-150.png", (100, 400, 740, 660)),
          "receipt": ("synthetic/receipt-200.png", (20, 50, 610, 250)),
          "book_paragraph": ("synthetic/book-200.jpg", (165, 210, 1005, 350))}
LINES = {"letter_line": ("synthetic/letter-200.jpg", (185, 190, 580, 229)),
         "receipt_line": ("synthetic/receipt-200.png", (160, 57, 470, 87)),
         "book_line": ("synthetic/book-200.jpg", (210, 218, 1000, 258)),
         "invoice_line": ("synthetic/invoice-150.png", (112, 108, 552, 154))}


def line_height(model):
    """Of a model of single lines (platen.json); 0 for others."""
    path = model / "platen.json"
    settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return settings.get("line_height", 0) if settings.get("granularity") == "line" else 0


def fitted(image, height, name, report):
    """RGB, in the height of lines if there is one, and not larger than MAX_PIXELS."""
    image = image.convert("RGB")
    if height:
        return image.resize((max(1, round(image.width * height / image.height)), height), Image.Resampling.LANCZOS)
    if image.width * image.height > MAX_PIXELS:
        scale = (MAX_PIXELS / (image.width * image.height)) ** 0.5
        size = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
        report(f"{name}: scaled from {image.width} x {image.height} to {size[0]} x {size[1]} pixels for both sides")
        image = image.resize(size, Image.Resampling.LANCZOS)
    return image


def sample_crops(model, report):
    """(name, image) of the crops that suit the model."""
    height = line_height(model)
    for name, (file, box) in (LINES if height else BLOCKS).items():
        yield name, fitted(Image.open(SAMPLES / file).crop(box), height, name, report)


def own_images(files, model, report):
    """(name, image) of the user's files; names are numbered, so that they differ."""
    for number, file in enumerate(files, 1):
        name = f"{number:02}_{Path(file).stem}"
        with Image.open(file) as image:
            yield name, fitted(ImageOps.exif_transpose(image), line_height(model), name, report)
