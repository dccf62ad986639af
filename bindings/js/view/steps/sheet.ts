/**
 * The style sheet of <heed-steps>, in addition to the ones of all elements and of a matrix. The
 * padding of the content leaves space for the outline of the focus. A name takes the width of its
 * matrix and never widens it, so that matrices above each other stay in line.
 */
export const stepsSheet = `
[part=content] { padding: 4px; }
fieldset { margin: 0; padding: 0; border: 0; min-width: 0; }
.transport { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.75rem; }
.transport button { min-height: 2rem; }
.transport .play { min-width: 4.25rem; }
.transport button:disabled { color: var(--faint); opacity: 0.6; cursor: default; }
.transport-buttons { display: flex; gap: 0.25rem; }
.scrub { flex: 1 1 8rem; min-width: 6rem; max-width: 24rem; margin: 0; accent-color: var(--accent); }
.transport-place { min-width: 16rem; font-variant-numeric: tabular-nums; }
.transport-place b { font-weight: 600; }
.stages { display: flex; flex-wrap: wrap; gap: 0 0.625rem; margin: 0.25rem 0 0.75rem; border-bottom: 1px solid var(--rule); }
.stages button {
  min-height: 2rem;
  padding: 0;
  border: 0;
  border-bottom: 3px solid transparent;
  border-radius: 0;
  background: none;
  font-size: 0.8125rem;
}
.wide .stages { gap: 0 1rem; }
.stages button:hover { border-bottom-color: var(--frame); }
.stages [aria-current] { border-bottom-color: var(--ink); font-weight: 600; }
.stage { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem 2rem; }
.wide .stage { grid-template-columns: minmax(0, 1fr) 18rem; }
.figure { min-width: 0; overflow-x: auto; }
.figure-grid { display: grid; grid-template-columns: repeat(2, max-content); align-items: end; justify-items: end; }
.figure-row { display: flex; align-items: flex-start; }
.figure-row.stacked { flex-direction: column; gap: 0.5rem; }
.matrix-name {
  display: flex;
  align-items: baseline;
  gap: 0.5rem;
  min-height: 1.75rem;
  font-size: 0.875rem;
  white-space: nowrap;
}
.symbol { font-weight: 600; font-style: italic; }
:is(.figure-grid, .figure-below) .matrix-name { width: 0; min-width: 100%; }
.figure-below .matrix-name { flex-wrap: wrap; margin-top: 0.5rem; white-space: normal; }
.sign { flex: none; align-self: center; text-align: center; font-size: 0.875rem; color: var(--faint); }
.stacked .sign { align-self: flex-start; width: auto !important; }
.stacked .sign:empty { display: none; }
.legends { display: flex; flex-wrap: wrap; gap: 0 1.25rem; width: 0; min-width: 100%; margin-top: 0.5rem; }
.named-legend { display: flex; flex-wrap: wrap; align-items: center; gap: 0 0.375rem; font-size: 0.75rem; }
.named-legend .legend { margin: 0; white-space: normal; }
.words { max-width: 42rem; }
.wide .words { min-height: 9rem; }
.readout { min-height: 6rem; }
button.link { border: 0; padding: 0; background: none; text-decoration: underline; }
@media print { .transport, .stages { display: none; } }
`;
