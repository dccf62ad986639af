/** The style sheet of all elements. A page restyles them with the properties that begin with --heed. */

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
  color: var(--ink);
  background: var(--page);
  font: 1rem / 1.5 var(--family);
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
  visibility: hidden;
  color: var(--ink);
  background-color: var(--page);
  border: 0 solid;
  border-color: var(--frame) var(--hidden) var(--hatch) var(--faint);
  outline-color: var(--accent);
}
.number { font-variant-numeric: tabular-nums; }
.faint { color: var(--faint); }
.role-q { color: var(--q); }
.role-k { color: var(--k); }
.role-v { color: var(--v); }
.role-o { color: var(--o); }
.only-heard {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
button, summary, input, select { font: inherit; color: inherit; }
button {
  padding: 0 0.5rem;
  border: 1px solid var(--frame);
  border-radius: 3px;
  background: var(--page);
  cursor: pointer;
}
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
