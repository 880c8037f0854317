"""OCRmyPDF with platen: `ocrmypdf --plugin ocrmypdf_platen scan.pdf out.pdf`.

OCRmyPDF gives one page's image at a time; `platen ocr` reads it and answers with hOCR, from which OCRmyPDF makes the
text layer. Options: --platen-program, --platen-model, --platen-threads.
"""
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from ocrmypdf import hookimpl
from ocrmypdf.exceptions import ExitCodeException, MissingDependencyError
from ocrmypdf.hocrtransform import HocrParser
from ocrmypdf.pluginspec import OcrEngine, OrientationConfidence
from pydantic import BaseModel

UNREADABLE_PAGE = 1  # exit code of platen: it ran, and the page could not be read


class PlatenOptions(BaseModel):
    program: str = "platen"
    model: str = ""
    threads: int = 1


class PlatenError(ExitCodeException):
    exit_code = 15  # "other error" of OCRmyPDF


@hookimpl
def register_options():
    return {"platen": PlatenOptions}


@hookimpl
def add_options(parser):
    group = parser.add_argument_group("platen", "Options of the platen engine")
    group.add_argument("--platen-program", dest="platen_program", metavar="FILE", default="platen",
                       help="the program, if it is not on the search path")
    group.add_argument("--platen-model", dest="platen_model", metavar="MODEL", default="",
                       help="a model's folder or owner/name; without it the bundled model")
    group.add_argument("--platen-threads", dest="platen_threads", metavar="N", type=int, default=1,
                       help="threads of each platen process; OCRmyPDF runs --jobs of them at once")


def settings_of(options):
    """The plugin's options, however this version of OCRmyPDF hands them over."""
    nested = getattr(options, "platen", None)
    if isinstance(nested, PlatenOptions):
        return nested
    return PlatenOptions(**{name: getattr(options, f"platen_{name}", field.default)
                            for name, field in PlatenOptions.model_fields.items()})


@hookimpl
def check_options(options):
    program = settings_of(options).program
    if shutil.which(program) is None:
        raise MissingDependencyError(f"The program {program} was not found; install platen or name it with "
                                     "--platen-program.")


def version_of(program):
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"\d+(\.\d+)+", answer)
    return match.group() if match else "unknown"


def read_page(image, options):
    """(hOCR, text) of an image file."""
    settings = settings_of(options)
    with tempfile.TemporaryDirectory(prefix="ocrmypdf-platen-") as folder:
        command = [settings.program, "ocr", str(Path(image).absolute()), "-o", folder, "--format", "hocr,txt", "--quiet",
                   "--threads", str(max(1, settings.threads))]
        if settings.model:
            command += ["--model", settings.model]
        run = subprocess.run(command, capture_output=True, text=True)
        stem = Path(folder) / Path(image).name
        hocr, text = (stem.with_name(f"{stem.name}.{suffix}") for suffix in ("hocr", "txt"))
        if run.returncode > UNREADABLE_PAGE or not hocr.exists():
            raise PlatenError(f"platen ended with exit code {run.returncode}: {run.stderr.strip()}")
        return hocr.read_text(encoding="utf-8"), text.read_text(encoding="utf-8")


class PlatenEngine(OcrEngine):
    @staticmethod
    def version():
        return version_of("platen") if shutil.which("platen") else "unknown"

    @staticmethod
    def creator_tag(options):
        return f"platen {version_of(settings_of(options).program)}"

    def __str__(self):
        return "platen"

    @staticmethod
    def languages(options):
        """platen has no language option: whatever is asked for is answered by the model."""
        return set(options.languages or []) | {"eng"}

    @staticmethod
    def get_orientation(input_file, options):
        """platen turns pages itself, and its boxes are those of the image as it lies."""
        return OrientationConfidence(angle=0, confidence=0.0)

    @staticmethod
    def get_deskew(input_file, options):
        return 0.0

    @staticmethod
    def generate_hocr(input_file, output_hocr, output_text, options):
        hocr, text = read_page(input_file, options)
        Path(output_hocr).write_text(hocr, encoding="utf-8")
        Path(output_text).write_text(text, encoding="utf-8")

    @staticmethod
    def generate_pdf(input_file, output_pdf, output_text, options):
        raise NotImplementedError("use the default --pdf-renderer: platen's text is laid by OCRmyPDF")

    @staticmethod
    def supports_generate_ocr():
        return True

    @staticmethod
    def generate_ocr(input_file, options, page_number=0):
        with tempfile.TemporaryDirectory(prefix="ocrmypdf-platen-") as folder:
            hocr, text = read_page(input_file, options)
            file = Path(folder) / "page.hocr"
            file.write_text(hocr, encoding="utf-8")
            page = HocrParser(file).parse()
        page.page_number = page_number
        return page, text


@hookimpl
def get_ocr_engine(options):
    chosen = getattr(options, "ocr_engine", "auto") if options is not None else "auto"
    return PlatenEngine() if chosen == "auto" else None
