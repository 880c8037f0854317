#include "stages/formats/html_assets.h"

namespace platen {

const char kCheckPageStyle[] = R"css(
body { margin: 0; font: 16px/1.4 system-ui, sans-serif; color: #111; background: #eee; }
header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .2rem 1.5rem; align-items: center;
  padding: .4rem 1rem; background: #fff; border-bottom: 1px solid #bbb; }
h1 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
header p { margin: 0; font-size: .85rem; color: #444; }
button { font: inherit; }
section { padding: .5rem 1rem 1.5rem; content-visibility: auto; contain-intrinsic-size: auto 900px; }
h2 { margin: .3rem 0; font-size: 1rem; }
.note { margin: .3rem 0; padding: .3rem .6rem; background: #fde2b8; border-left: 4px solid #c60; }
.pair { display: grid; grid-template-columns: minmax(0, 3fr) minmax(18rem, 2fr); gap: 1rem; align-items: start; }
svg { display: block; width: 100%; height: auto; max-height: calc(100vh - 6.5rem); background: #fff; }
polygon { fill: #06c; fill-opacity: 0; stroke: #06c; stroke-width: 1; stroke-opacity: .6;
  vector-effect: non-scaling-stroke; cursor: pointer; pointer-events: all; }
polygon.k0 { stroke: #d00; fill: #d00; fill-opacity: .15; stroke-opacity: 1; }
polygon.k1 { stroke: #c60; fill: #c60; fill-opacity: .1; stroke-opacity: 1; }
polygon.on { fill: #fd0; fill-opacity: .4; stroke: #000; stroke-width: 2; stroke-opacity: 1; }
ol { margin: 0; padding: 0; list-style: none; max-height: calc(100vh - 6.5rem); overflow: auto; background: #fff; }
li { display: flex; gap: .6rem; padding: .15rem .5rem; border-left: 4px solid transparent; cursor: pointer; }
li .t { flex: 1; white-space: pre-wrap; overflow-wrap: anywhere; }
li .c { color: #444; font-size: .8rem; }
li.k0 { border-color: #d00; }
li.k1 { border-color: #c60; }
li.on { background: #fff3b0; }
li:focus { outline: 2px solid #06c; outline-offset: -2px; }
@media (max-width: 50rem) { .pair { grid-template-columns: 1fr; } }
)css";

// Lines of both sides carry the same data-line. One entry of a list can be reached by Tab: the
// chosen one, or the first.
const char kCheckPageScript[] = R"js(
"use strict";
(() => {
  const lists = [...document.querySelectorAll("ol")];
  const entry = key => document.getElementById("l" + key);
  const shape = key => document.getElementById("s" + key);
  let chosen = null;
  const mark = (key, on) => {
    for (const element of [entry(key), shape(key)]) if (element) element.classList.toggle("on", on);
  };
  const choose = key => {
    if (chosen === key) return;
    if (chosen !== null) mark(chosen, false);
    chosen = key;
    mark(key, true);
    const item = entry(key);
    for (const other of item.parentElement.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    item.tabIndex = 0;
    item.scrollIntoView({block: "nearest"});
  };
  const keyOf = event => {
    const element = event.target.closest("[data-line]");
    return element ? element.dataset.line : null;
  };
  const go = key => {
    choose(key);  // whether or not the window has the focus
    entry(key).focus({preventScroll: true});
  };
  document.addEventListener("click", event => {
    const key = keyOf(event);
    if (key !== null) go(key);
  });
  document.addEventListener("focusin", event => {
    const key = keyOf(event);
    if (key !== null) choose(key);
  });
  const moves = {
    ArrowDown: item => item.nextElementSibling,
    ArrowUp: item => item.previousElementSibling,
    Home: item => item.parentElement.firstElementChild,
    End: item => item.parentElement.lastElementChild,
  };
  document.addEventListener("keydown", event => {
    const item = event.target.closest("li");
    if (!item || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter") {
      const target = shape(item.dataset.line);
      if (target) target.scrollIntoView({block: "center"});
    } else if (moves[event.key]) {
      const next = moves[event.key](item);
      if (next) go(next.dataset.line);
    } else {
      return;
    }
    event.preventDefault();
  });
  const button = document.getElementById("order");
  let byDoubt = true;
  button.addEventListener("click", () => {
    byDoubt = !byDoubt;
    button.textContent = byDoubt ? "Show in reading order" : "Show least certain first";
    for (const list of lists) {
      const rank = item => (byDoubt ? Number(item.dataset.c) * 1e6 : 0) + Number(item.dataset.n);
      list.append(...[...list.children].sort((a, b) => rank(a) - rank(b)));
    }
  });
  button.hidden = false;
})();
)js";

const char kCheckPagePolicy[] =
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src "
    "'sha256-xMXtwOcwDPxwgRa7gVPGO2ZgcH4tuhGjR9+FgUUE8mk='; script-src "
    "'sha256-e6qR9CCCZ5UeLDrReDxpcDE8WeoegWAaBDyEsqoeBvs='";

}  // namespace platen
