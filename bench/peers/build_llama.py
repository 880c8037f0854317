#!/usr/bin/env python3
"""Compile llama.cpp for this CPU and make it importable as llama_cpp in a virtual environment.

    build_llama.py WORK_DIR

The sources are those that llama-cpp-python brings; its own build also makes tools that nothing here
needs and takes three times as long. WORK_DIR/venv must exist. Needs CMake, Ninja and a C++ compiler.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "0.3.36"
OFF = ["COMMON", "TOOLS", "EXAMPLES", "TESTS", "SERVER", "APP"]

# GCC 12 knows only of the first eight bytes that _tile_loadconfig reads and drops the stores to the
# others; llama.cpp then dies of an illegal instruction on every CPU with AMX.
TILES = Path("ggml/src/ggml-cpu/amx/mmq.cpp")
CALL = "_tile_loadconfig(&tc);"
BARRIER = '__asm__ volatile("" ::: "memory"); '


def unpack(work: Path, python: Path) -> Path:
    folder = work / f"llama_cpp_python-{VERSION}"
    if not folder.exists():
        subprocess.run([python, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "--dest", work,
                        f"llama-cpp-python=={VERSION}"], check=True)
        subprocess.run(["tar", "-xzf", work / f"{folder.name}.tar.gz", "-C", work], check=True)
    source = folder / "vendor" / "llama.cpp"
    text = (source / TILES).read_text()
    if BARRIER not in text:
        (source / TILES).write_text(text.replace(CALL, BARRIER + CALL))
    return folder


def compile_libraries(source: Path, build: Path) -> list:
    options = [f"-DLLAMA_BUILD_{name}=OFF" for name in OFF] + ["-DLLAMA_BUILD_MTMD=ON", "-DLLAMA_OPENSSL=OFF"]
    subprocess.run(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DBUILD_SHARED_LIBS=ON", "-DGGML_NATIVE=ON", *options], check=True)
    subprocess.run(["cmake", "--build", build, "--target", "llama", "mtmd"], check=True)
    return sorted((build / "bin").glob("*.so*"))


def install(folder: Path, python: Path, libraries: list) -> None:
    """The bindings without their own build, and the libraries where they look for them."""
    no_build = {**os.environ, "CMAKE_ARGS": "-DLLAMA_BUILD=OFF -DLLAVA_BUILD=OFF"}
    subprocess.run([python, "-m", "pip", "install", "--no-deps", folder], check=True, env=no_build)
    find = "import importlib.util as u; print(u.find_spec('llama_cpp').submodule_search_locations[0])"
    package = subprocess.run([python, "-c", find], check=True, capture_output=True, text=True).stdout.strip()
    (Path(package) / "lib").mkdir(exist_ok=True)
    for library in libraries:
        shutil.copy2(library, Path(package) / "lib" / library.name)


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    work = Path(sys.argv[1]).resolve()
    python = work / "venv" / "bin" / "python"
    folder = unpack(work, python)
    install(folder, python, compile_libraries(folder / "vendor" / "llama.cpp", work / "llama-build"))


if __name__ == "__main__":
    main()
