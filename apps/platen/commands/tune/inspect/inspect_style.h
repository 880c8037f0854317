#pragma once

namespace platen {

// What the page of tune-mtp inspect adds to the style of the report.
inline constexpr char kInspectStyle[] = R"css(
:root{--pale:#9dc3d4;--hit:#1f7a4d;--hit-paper:#e2f3e9;--miss:#b3261e;--miss-paper:#fbe6e4}
@media (prefers-color-scheme:dark){:root{--pale:#2f5c70;--hit:#6fd09d;--hit-paper:#16382a;--miss:#ff9d94;--miss-paper:#4a1f1c}}
:root{--c0:#2f6f8f;--c1:#c4622d;--c2:#7a4fa3;--c3:#3d8b4f;--c4:#b03a72;--c5:#8a7a1f;--c6:#4a5fc1;--c7:#6b6b6b}
@media (prefers-color-scheme:dark){:root{--c0:#5aa9cc;--c1:#ec935f;--c2:#b693dd;--c3:#78c98b;--c4:#e67fae;--c5:#d3c25c;--c6:#93a4f5;--c7:#b0b0b0}}
.pale{fill:var(--pale)}.curves{max-width:34rem}.pair{display:flex;flex-wrap:wrap;gap:1rem}.pair>*{flex:1 1 20rem}
.curve{fill:none;stroke-width:2}.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}.c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--c7)}
rect.c0,.dot.c0{fill:var(--c0)}rect.c1,.dot.c1{fill:var(--c1)}rect.c2,.dot.c2{fill:var(--c2)}rect.c3,.dot.c3{fill:var(--c3)}rect.c4,.dot.c4{fill:var(--c4)}rect.c5,.dot.c5{fill:var(--c5)}rect.c6,.dot.c6{fill:var(--c6)}rect.c7,.dot.c7{fill:var(--c7)}
.region{border-top:1px solid var(--line);margin-top:1.75rem;padding-top:.25rem}h3{font-size:1rem;margin:.9rem 0 .6rem;display:flex;flex-wrap:wrap;gap:.2rem .75rem;overflow-wrap:anywhere}h3 .soft{font-weight:400}
.region img{display:block;max-width:100%;height:auto;margin:.5rem 0;border:1px solid var(--line);background:#fff}
.tokens{display:flex;flex-wrap:wrap;align-items:flex-end;row-gap:.45rem;margin:.3rem 0 1rem;font:15px/1.5 ui-monospace,monospace}.tokens>span,.tokens ins,.tokens del{white-space:pre-wrap;unicode-bidi:isolate;overflow-wrap:anywhere}
.tokens .own{color:var(--ink);border-bottom:2px dotted var(--soft)}.tokens .hit{background:var(--hit-paper);color:var(--hit);border-bottom:2px solid var(--hit)}.tokens .miss{background:var(--miss-paper);border-bottom:2px dashed var(--miss);display:inline-flex;flex-direction:column;align-items:center;margin:0 1px;padding:0 1px}
.tokens del{color:var(--miss);text-decoration:none;font-size:.8em;line-height:1.15}.tokens ins{color:var(--ink);text-decoration:none}.tokens .break{flex-basis:100%;border:0}
.legend{display:flex;flex-wrap:wrap;align-items:flex-end;gap:.4rem 1.5rem;margin:.75rem 0;padding:0;list-style:none}.legend li{display:flex;align-items:flex-end}.legend .tokens{display:inline-flex;margin:0 .5rem 0 0}
.narrow{width:auto}.narrow td,.narrow th{padding-right:2rem}
.slots{font-size:.85rem;width:auto}.slots td{white-space:nowrap;padding-right:1.1rem}.slots .begins{background:var(--rail)}.slots .mark{color:var(--soft);padding:.35rem .5rem}
.chip{font:.95em ui-monospace,monospace;border:1px solid var(--line);border-radius:.25rem;padding:0 .25rem;margin-right:.3rem;white-space:pre;unicode-bidi:isolate;background:var(--paper)}.tail{font:.95em ui-monospace,monospace;unicode-bidi:isolate}
.right .mark,.right .chip{color:var(--hit)}.wrong .mark,.wrong .chip{color:var(--miss)}.right .chip{border-color:var(--hit)}.wrong .chip{border-color:var(--miss);border-style:dashed}.void{opacity:.55}.p{color:var(--soft);margin-right:.3rem}
)css";

}  // namespace platen
