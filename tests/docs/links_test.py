#!/usr/bin/env python3
"""links_test.py SOURCE: every link in the project's Markdown leads to a file that is there, and to a heading that it has.
Addresses on the web are not looked at, nor what stands in code."""
import collections
import re
import subprocess
import sys
from pathlib import Path

CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page):
    """As GitHub makes them: of equal headings the second has -1 behind it, the third -2."""
    found, times = set(), collections.Counter()
    for heading in re.findall(r"^#+ +(.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE):
        name = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", name).replace(" ", "-")
        found.add(f"{name}-{times[name]}" if times[name] else name)
        times[name] += 1
    return found


def complaints(page):
    for link in LINK.findall(CODE.sub("", page.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            yield f"{page}: {link}: no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{page}: {link}: no such heading"


def pages(source):
    """Without what was built, and what others have put there."""
    tracked = subprocess.run(["git", "-C", str(source), "ls-files", "-z", "--", "*.md"], capture_output=True, text=True)
    if tracked.returncode == 0:
        return [source / name for name in tracked.stdout.split("\0") if name and (source / name).exists()]
    return [*source.glob("*.md"), *(source / "docs").rglob("*.md")]


def main():
    looked_at = pages(Path(sys.argv[1]))
    found = [complaint for page in looked_at for complaint in complaints(page)]
    print(*found, f"{len(looked_at)} pages", sep="\n")
    return 1 if found or not looked_at else 0


if __name__ == "__main__":
    sys.exit(main())
