#pragma once

namespace platen {

// The style of the report, light and dark as the reader's system is.
inline constexpr char kReportStyle[] = R"css(
:root{color-scheme:light dark;--ink:#1c2128;--soft:#5b6570;--line:#dfe3e8;--paper:#fff;--rail:#eef1f4;--good:#2f6f8f;--bad:#c0392b;--warn:#9a6700}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#9aa5b1;--line:#333b45;--paper:#14181d;--rail:#232a32;--good:#5aa9cc;--bad:#ef7568;--warn:#e0b050}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:66rem;padding:2rem 1.25rem 4rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.2rem;margin:2.75rem 0 .75rem}
p{margin:.4rem 0}.soft{color:var(--soft)}.state{font-weight:600}.state.bad{color:var(--bad)}.state.warn{color:var(--warn)}.state.good{color:var(--good)}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));gap:.75rem;margin:1.5rem 0 0;padding:0;list-style:none}
.tiles li{border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem}.tiles b{display:block;font-size:1.45rem;line-height:1.2}.tiles span{color:var(--soft);font-size:.9rem}
.chart{width:100%;height:auto;display:block}.chart text{font:14px system-ui,sans-serif;fill:var(--ink)}.chart .tick{fill:var(--soft);font-size:13px}
.grid{stroke:var(--line)}.good{fill:var(--good)}.bad{fill:var(--bad)}.rail{fill:var(--rail)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.93rem}th,td{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}td.long{overflow-wrap:anywhere}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}summary{cursor:pointer;margin:.75rem 0}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(18rem,1fr));gap:1rem}
.card{border:1px solid var(--line);border-radius:.5rem;overflow:hidden}.card svg{display:block;width:100%;height:auto;max-height:26rem;background:var(--rail)}.card div{padding:.6rem .9rem .8rem;font-size:.93rem;overflow-wrap:anywhere}
.card polygon{fill:none;stroke:#2f6f8f;stroke-width:1.5;vector-effect:non-scaling-stroke}.card polygon.low{stroke:#d0021b;stroke-width:2.5}
)css";

}  // namespace platen
