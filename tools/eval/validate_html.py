#!/usr/bin/env python3
"""Checks a check page of `platen ocr --format html`.

    tools/eval/validate_html.py FILE.html [--dark-box]

With Python alone: one style and one script, both allowed by the policy through their hashes and nothing else; no
handlers inside the markup, no reference to another file. With chromium, where it is installed (and said otherwise):
clicks, keys and both orders work on a copy of the page that a test script is added to, and nothing is asked for over
the network. --dark-box: the page shows one dark rectangle, and the outline of its first line must lie around it in a
screenshot.

Exit code 1: something is wrong.
"""
import argparse
import base64
import hashlib
import html.parser
import re
import shutil
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

DRIVER = """
(() => {
  const started = performance.now();
  const wrong = [];
  const check = (holds, what) => { if (!holds) wrong.push(what); };
  const items = [...document.querySelectorAll("li")], shapes = [...document.querySelectorAll("polygon")];
  const on = key => ["l", "s"].every(side => document.getElementById(side + key).classList.contains("on"));
  const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
  check(items.length === shapes.length, "a line has an entry and a shape");
  if (items.length === 0) {  // a blank page, or one that failed: nothing to click
    check(window.ran === undefined, "text has run");
    document.documentElement.dataset.time = 0;
    document.documentElement.dataset.result = wrong.join("; ") || "passed";
    return;
  }
  for (const shape of shapes) {
    const fill = getComputedStyle(shape);
    check(Number(fill.fillOpacity) < 0.5, "shapes hide the page");
  }
  const last = shapes[shapes.length - 1];
  last.dispatchEvent(new MouseEvent("click", {bubbles: true}));
  check(on(last.dataset.line), "a click on a shape chooses both");
  check(document.activeElement === document.getElementById("l" + last.dataset.line), "and goes to its entry");
  const first = document.querySelector("li");
  first.querySelector("span").dispatchEvent(new MouseEvent("click", {bubbles: true}));
  check(on(first.dataset.line) && document.querySelectorAll("li.on, polygon.on").length === 2, "a click on an entry chooses it alone");
  press("ArrowDown");
  const below = first.nextElementSibling || first;
  check(document.activeElement === below && on(below.dataset.line), "the arrow goes down");
  press("ArrowUp");
  check(document.activeElement === first && on(first.dataset.line), "and up");
  press("ArrowUp");
  check(document.activeElement === first, "not beyond the first");
  press("End");
  check(document.activeElement === first.parentElement.lastElementChild, "End goes to the last");
  press("Enter");
  check(document.querySelectorAll("li[tabindex='0']").length === document.querySelectorAll("ol li:first-child").length, "one stop of Tab in each list");
  const ascends = name => [...document.querySelectorAll("ol")].every(list =>
    [...list.children].every((item, i, all) => i === 0 || Number(all[i - 1].dataset[name]) <= Number(item.dataset[name])));
  const button = document.getElementById("order");
  check(!button.hidden && ascends("c"), "least certain lines stand first");
  button.click();
  check(ascends("n"), "the button shows the reading order");
  button.click();
  check(ascends("c"), "and the other order again");
  check(window.ran === undefined, "text has run");
  document.documentElement.dataset.time = Math.round(performance.now() - started);
  document.documentElement.dataset.result = wrong.join("; ") || "passed";
})();
"""


class Markup(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.policy, self.texts, self.inside, self.wrong = "", {"style": [], "script": []}, None, []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name.startswith("on") or name == "style":
                self.wrong.append(f"<{tag} {name}>")
            if name in ("src", "href", "xlink:href", "action", "srcset", "data") and not (value or "").startswith("data:image/"):
                self.wrong.append(f"<{tag} {name}={value!r:.80}>")
        if dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attributes)["content"]
        if tag in self.texts:
            self.inside = tag
            self.texts[tag].append("")

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        self.inside = None if tag == self.inside else self.inside

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside][-1] += data


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def check_markup(text):
    markup = Markup()
    markup.feed(text)
    wrong = list(markup.wrong)
    policy = dict(part.strip().split(" ", 1) for part in markup.policy.split(";") if part.strip())
    wrong += [] if policy.get("default-src") == "'none'" and policy.get("img-src") == "data:" else ["the policy"]
    for name, texts in markup.texts.items():
        if len(texts) != 1 or policy.get(name + "-src") != digest(texts[0]):
            wrong.append(f"{len(texts)} {name}, or not the one that the policy allows: {digest(texts[0]) if texts else ''}")
    return wrong


def chromium(program, folder, *arguments):
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder}/profile",
               "--force-device-scale-factor=1", "--window-size=1400,1000", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout


def check_behaviour(program, folder, text):
    """On a copy with one script more."""
    page, log = Path(folder) / "page.html", Path(folder) / "net.json"
    script = re.search(r"script-src ('sha256-[^']+')", text).group(1)
    copy = text.replace(script, script + " " + digest(DRIVER), 1).replace("</body>", f"<script>{DRIVER}</script></body>")
    page.write_text(copy, encoding="utf-8")
    dom = chromium(program, folder, f"--log-net-log={log}", "--virtual-time-budget=5000", "--dump-dom", page.as_uri())
    result = re.search(r'data-result="([^"]*)"', dom)
    wrong = [] if result and result.group(1) == "passed" else [result.group(1) if result else "the test script did not run"]
    asked = set(re.findall(r'"(?:https?|wss?|ftp)://([^/"]+)', log.read_text(errors="replace"))) if log.exists() else {"no log"}
    wrong += [f"asked for over the network: {host}" for host in asked if host.endswith(".invalid") or host == "no log"]
    time = re.search(r'data-time="(\d+)"', dom)
    print(f"{text.count('<polygon')} lines; the test script took {time.group(1) if time else '?'} ms")
    return wrong


def pixels(path):
    """Width, height and rows of (r, g, b) of a PNG file with 8 bits a sample and no interlacing."""
    data = path.read_bytes()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    channels = {2: 3, 6: 4}[kind]
    assert depth == 8
    raw, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        raw += data[at + 8:at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    raw, stride, rows = zlib.decompress(raw), width * channels, []
    above = bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        method, row = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for i in range(stride):
            left, up = row[i - channels] if i >= channels else 0, above[i]
            corner = above[i - channels] if i >= channels else 0
            if method == 4:
                guess = left + up - corner
                nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
                row[i] = (row[i] + nearest[2]) & 255
            elif method:
                row[i] = (row[i] + {1: left, 2: up, 3: (left + up) // 2}[method]) & 255
        above = row
        rows.append([tuple(row[i:i + 3]) for i in range(0, stride, channels)])
    return width, height, rows


def bounds(rows, matches):
    points = [(x, y) for y, row in enumerate(rows) for x, pixel in enumerate(row) if matches(*pixel)]
    if not points:
        return None
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def check_overlay(program, folder, text):
    """The red outline of the least certain line lies around the dark rectangle, within two pixels."""
    page, shot = Path(folder) / "shown.html", Path(folder) / "shot.png"
    page.write_text(text, encoding="utf-8")
    chromium(program, folder, f"--screenshot={shot}", page.as_uri())
    _, _, rows = pixels(shot)
    half = [row[:len(row) * 3 // 5 - 40] for row in rows[75:]]  # the list beside has red and dark pixels too
    dark = bounds(half, lambda r, g, b: r < 110 and g < 60 and b < 60)
    red = bounds(half, lambda r, g, b: r > 180 and g < 90 and b < 90)
    if dark is None or red is None:
        return [f"no dark rectangle or no red outline: {dark} {red}"]
    near = all(abs(a - b) <= 2 for a, b in zip(dark, red))
    print(f"dark rectangle {dark}, red outline {red}")
    return [] if near else [f"the outline {red} does not lie around the rectangle {dark}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--dark-box", action="store_true")
    arguments = parser.parse_args()
    text = arguments.file.read_text(encoding="utf-8")
    wrong = check_markup(text)
    program = shutil.which("chromium")
    if program:
        with tempfile.TemporaryDirectory() as folder:
            wrong += check_behaviour(program, folder, text)
            wrong += check_overlay(program, folder, text) if arguments.dark_box else []
    else:
        print("not tried in a browser: chromium is not installed")
    for complaint in wrong:
        print(f"{arguments.file}: {complaint}")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
