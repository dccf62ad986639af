/** A table of the numbers of the selected token. It can be scrolled by keyboard. */

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { at, format, type MatrixView, shorten } from "#parts";
import { Steady } from "./Steady";

/** Gives the style sheet the heights of the table's head and sum, so that no row between them is cut. */
function useEnds() {
  const ref = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const frame = ref.current;
    const table = frame?.querySelector("table");
    if (!frame || !table) return;
    const observer = new ResizeObserver(() => {
      for (const [name, part] of [
        ["--head", table.tHead] as const,
        ["--foot", table.tFoot] as const,
      ])
        if (part) frame.style.setProperty(name, `${part.offsetHeight}px`);
        else frame.style.removeProperty(name);
    });
    observer.observe(table);
    return () => observer.disconnect();
  }, []);
  return ref;
}

interface RowTableProps {
  title: ComponentChildren;
  /** The heads of the columns. */
  columns: readonly ComponentChildren[];
  /** A note below the title. */
  note?: ComponentChildren;
  children: ComponentChildren;
}

/** `children` are the tbody and, for sums, the tfoot; each cell names its column in data-column. */
export function RowTable({ title, columns, note, children }: RowTableProps) {
  const id = useId();
  const ref = useEnds();
  return (
    <div class="row-table">
      <h3 id={id}>{title}</h3>
      {note && <p class="faint">{note}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section ref={ref} class="scroll" tabIndex={0} aria-labelledby={id}>
        <table class="number">
          <thead>
            <tr>
              {columns.map((head, i) => (
                <th key={i} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          {children}
        </table>
      </section>
    </div>
  );
}

/** The number of entries shown of a vector: two such columns must fit. */
const entriesShown = 3;

/** A row of a matrix in one cell of the table. */
export function Vector({ view, row }: { view: MatrixView; row: number }) {
  const shown = Math.min(view.cols, entriesShown);
  return (
    <span class="vector">
      {Array.from({ length: shown }, (_, d) => (
        <span key={d}>{format(at(view, row, d))}</span>
      ))}
      {shown < view.cols && <span class="faint">…</span>}
    </span>
  );
}

interface TokenSelectProps {
  label: string;
  tokens: readonly string[];
  index: number;
  onSelect(index: number): void;
}

/** Selects one token of a sentence. */
export function TokenSelect({ label, tokens, index, onSelect }: TokenSelectProps) {
  return (
    <select
      aria-label={label}
      value={String(index)}
      onChange={({ currentTarget }) => onSelect(Number(currentTarget.value))}
    >
      <Steady by={[tokens]}>
        {() =>
          tokens.map((token, i) => (
            <option key={i} value={String(i)}>
              {i + 1} {shorten(token, 16)}
            </option>
          ))
        }
      </Steady>
    </select>
  );
}
