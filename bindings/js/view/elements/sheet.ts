/** The style sheet of all elements. A page changes their style with the properties that begin with --heed. */

import type { Theme } from "../picture/colour.js";

const family = 'system-ui, -apple-system, "Segoe UI", sans-serif';

/** The colours of each theme, unless a page sets others. */
export const themes = {
  light: {
    ...{ ink: "#1f2124", page: "#ffffff", faint: "#5f6268", frame: "#d4d4cf", hidden: "#efefec" },
    ...{ hatch: "#b4b4ae", accent: "#0072b2", rule: "#e3e3df", wash: "#f5f5f2" },
    ...{ q: "#0069a5", k: "#a84900", v: "#007355", o: "#974678", family },
  },
  dark: {
    ...{ ink: "#e8e6e1", page: "#1b1c1f", faint: "#a5a8ae", frame: "#4a4c52", hidden: "#2a2b2f" },
    ...{ hatch: "#5d6067", accent: "#5cb4e8", rule: "#35373b", wash: "#24262a" },
    ...{ q: "#5cb4e8", k: "#f08a45", v: "#3fc79b", o: "#de9cc4", family },
  },
} satisfies Record<Theme, Readonly<Record<string, string>>>;

const declarations = (theme: Theme) =>
  Object.entries(themes[theme])
    .map(
      ([name, value]) => `--${name}: var(--heed-${name === "family" ? "font" : name}, ${value});`,
    )
    .join("");

export const baseSheet = `
:host { display: block; }
:host([hidden]) { display: none; }
[part=frame] {
  position: relative;
  overflow-x: auto;
  padding: 4px;
  color: var(--ink);
  background: var(--page);
  font: 1rem / 1.5 var(--family);
  text-align: start;
}
.light { ${declarations("light")} color-scheme: light; }
.dark { ${declarations("dark")} color-scheme: dark; }
*, *::before { box-sizing: border-box; }
[hidden] { display: none !important; }
p { margin: 0; }
[part=error] { overflow-wrap: anywhere; }
[part=error]:not(:empty) { padding: 0.5rem 0.75rem; border-left: 3px solid var(--ink); }
[part=notes] { font-size: 0.75rem; color: var(--faint); }
[part=probe] {
  position: absolute;
  top: 0;
  visibility: hidden;
  color: var(--ink);
  background-color: var(--page);
  border: 0 solid;
  border-color: var(--frame) var(--hidden) var(--hatch) var(--faint);
}
.number { font-variant-numeric: tabular-nums; }
.faint { color: var(--faint); }
.role-q { color: var(--q); }
.role-k { color: var(--k); }
.role-v { color: var(--v); }
.role-o { color: var(--o); }
.only-heard {
  position: absolute;
  top: 0;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
button, summary, input, select { font: inherit; color: inherit; }
button, select { border: 1px solid var(--frame); border-radius: 3px; background: var(--page); }
button { padding: 0 0.5rem; cursor: pointer; }
button:hover { background: var(--wash); }
@media (forced-colors: active) {
  canvas, .legend-strip, .hatched { forced-color-adjust: none; }
  [part=frame] { border: 1px solid CanvasText; }
}
@media print {
  .save, button { display: none; }
  canvas, svg { break-inside: avoid; }
}
`;

/** The style of a matrix with its legend, save menu and readout. */
export const matrixSheet = `
canvas { display: block; flex: none; }
canvas.alive { cursor: crosshair; }
.legend {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.375rem;
  min-height: 1.5rem;
  margin-top: 0.25rem;
  font-size: 0.75rem;
  color: var(--faint);
  white-space: nowrap;
}
.legend-scale, .save[open] { display: flex; align-items: center; gap: 0.375rem; }
.legend-scale { white-space: normal; }
.legend-strip { flex: none; width: 4rem; height: 0.5rem; border: 1px solid var(--frame); }
.hatched {
  display: inline-block;
  width: 1rem;
  height: 0.5rem;
  border: 1px solid var(--frame);
  background: repeating-linear-gradient(135deg, var(--hidden) 0 2px, var(--hatch) 2px 3px);
}
.save > summary { list-style: none; cursor: pointer; text-decoration: underline; }
.save > summary::-webkit-details-marker { display: none; }
.save-choices { display: inline-flex; gap: 0.25rem; }
.readout {
  min-height: 3.25rem;
  margin-top: 0.5rem;
  padding-left: 0.75rem;
  border-left: 3px solid var(--rule);
  font-size: 0.875rem;
  overflow-wrap: anywhere;
}
.readout.locked { border-left-color: var(--ink); }
`;

/** The style of a row of controls. */
export const barSheet = `
.bar {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.25rem 1.25rem;
  min-height: 2rem;
  font-size: 0.875rem;
}
`;

/** The style of lines between tokens. */
export const linesSheet = `
.sides { display: flex; justify-content: space-between; font-size: 0.75rem; }
.token-lines { touch-action: pan-y pinch-zoom; overflow: hidden; }
.token-lines svg { display: block; }
.token-lines path { fill: none; pointer-events: none; }
.line-others { stroke: var(--faint); }
.line-selected { stroke: var(--accent); }
.line-labels text { dominant-baseline: central; fill: var(--faint); cursor: pointer; }
.line-labels .selected { fill: var(--ink); font-weight: 600; }
.bar { margin-top: 0.25rem; }
.bar .save { margin-left: auto; font-size: 0.75rem; color: var(--faint); }
.bar output { display: inline-block; min-width: 6.5rem; white-space: nowrap; }
.bar input[type=range] { width: 6rem; vertical-align: middle; accent-color: var(--accent); }
@media print { .bar label { display: none; } }
@media (forced-colors: active) {
  .line-others { stroke: GrayText; }
  .line-selected { stroke: Highlight; }
  .line-labels text { fill: CanvasText; }
}
`;

/** The style of shaded tokens. */
export const tokensSheet = `
.text {
  max-height: 24rem;
  overflow: auto;
  padding: 0.25rem;
  font-size: 1.125rem;
  line-height: 1.9;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  cursor: pointer;
}
.piece { padding: 0.2rem 0; border-radius: 2px; unicode-bidi: isolate; }
.apart .piece { display: inline-block; margin-inline-end: 0.25rem; padding-inline: 0.25rem; line-height: 1.4; }
.hidden-token { color: var(--faint); background: var(--hidden); }
.piece.pointed { outline: 1px solid var(--faint); outline-offset: 1px; }
.piece.current { outline: 2px solid var(--ink); outline-offset: 1px; }
.piece.kept { outline-color: var(--accent); }
.side { font-size: 0.75rem; }
@media print {
  .text { max-height: none; overflow: visible; print-color-adjust: exact; }
  .bar { display: none; }
}
@media (forced-colors: active) { .piece { forced-color-adjust: none; } }
`;

/** The style of all heads and the chosen one. */
export const headsSheet = `
.bar { margin-bottom: 0.5rem; }
.body { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem 1.5rem; }
.body.wide { grid-template-columns: minmax(0, 42fr) minmax(0, 58fr); }
.about {
  display: flex;
  align-items: end;
  min-height: 2.5rem;
  padding-bottom: 0.375rem;
  font-size: 0.8125rem;
  line-height: 1.3;
}
.scroll { max-height: 20rem; overflow: auto; scrollbar-gutter: stable; }
.wide .scroll { max-height: 40rem; }
h3, h4 { margin: 0; font: inherit; font-size: 0.875rem; }
h3 { font-weight: 600; min-height: 2rem; }
.layer { display: grid; grid-template-columns: 24px minmax(0, 1fr); min-height: calc(var(--lines) * (var(--side) + 28px)); }
.layer h4 { color: var(--faint); padding-top: 0.25rem; font-variant-numeric: tabular-nums; }
.layer ul { grid-column: 2; display: flex; flex-wrap: wrap; align-content: start; margin: 0; padding: 0; list-style: none; }
.thumbnail { width: calc(var(--side) + 10px); }
.thumbnail button {
  display: block;
  width: 100%;
  padding: 4px;
  border: 1px solid transparent;
  border-radius: 3px;
  background: none;
  line-height: 0;
}
.thumbnail button:hover { border-color: var(--frame); background: var(--wash); }
.thumbnail button[aria-pressed=true] { border-color: var(--ink); box-shadow: inset 0 0 0 1px var(--ink); }
.thumbnail button:focus-visible { outline-offset: -2px; }
.thumbnail-words {
  display: flex;
  justify-content: space-between;
  height: 18px;
  padding-top: 2px;
  font-size: 0.625rem;
  line-height: 16px;
  white-space: nowrap;
}
.thumbnail-words [data-measure] { color: var(--faint); }
@media print {
  .scroll { max-height: none; overflow: visible; }
  .bar { display: none; }
}
`;
