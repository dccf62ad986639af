/** An interactive matrix of the room: its cells can be pointed at, locked and painted, and its rows selected. */
import type { ComponentChildren } from "preact";
import { HeatMap, MatrixLegend } from "../../picture/HeatMap";
import type { Cell } from "../../picture/Matrix";
import type { Saved } from "../../picture/SaveMenu";
import { useShell } from "../../shared/shell";
import { kindOf, type MatrixName } from "./matrices";
import { usePage } from "./page";
import { type PictureOptions, useMatrixPicture } from "./pictures";
import { sizesOf } from "./state";

function MatrixSymbol({ name, flip = false }: { name: MatrixName; flip?: boolean }) {
  const { symbol, role } = kindOf(name);
  const [base, power] = symbol.split("^");
  const [letter, index] = (base as string).split("_");
  return (
    <span class={role ? `symbol role-${role}` : "symbol"}>
      {letter}
      {index && <sub>{index}</sub>}
      {power && <sup>{power}</sup>}
      {flip && "ᵀ"}
    </span>
  );
}

export function NamedMatrix({
  name,
  options,
  note,
}: {
  name: MatrixName;
  options: PictureOptions;
  /** A few words after the name, instead of the size. */
  note?: ComponentChildren;
}) {
  const { state, scene, set, point, lock } = usePage();
  const { restrictions } = useShell();
  const { flip = false } = options;
  const upright = ({ row, col }: Cell) => ({
    matrix: name,
    row: flip ? col : row,
    col: flip ? row : col,
  });
  const paint = (cell: Cell, hide: boolean) =>
    set(({ hidden }) => {
      const next = new Set(hidden);
      if (hide) next.add(`${cell.row},${cell.col}`);
      else next.delete(`${cell.row},${cell.col}`);
      return { hidden: next };
    });
  const isQueries = kindOf(name).rows === "query";
  const takesPaint =
    name === "masked" &&
    state.mask === "painted" &&
    scene.queries.tokens.length > 0 &&
    !restrictions.lock;

  return (
    <HeatMap
      name={name}
      title={kindOf(name).title}
      symbol={<MatrixSymbol name={name} flip={flip} />}
      note={note}
      picture={useMatrixPicture(name, { ...options, unfolds: true })}
      hasLegend={false}
      {...(takesPaint && { hint: "Space hides or shows a cell, Enter locks it." })}
      actions={{
        point: (cell, by) => point(cell && upright(cell), by),
        press: (cell) => lock(upright(cell)),
        selectRow: isQueries && !flip ? (row) => set({ row }) : undefined,
        paint: takesPaint ? paint : undefined,
      }}
    />
  );
}

/** The legend and save menu of a matrix that is drawn elsewhere. */
export function NamedLegend({ name, options }: { name: MatrixName; options: PictureOptions }) {
  const { scene, state } = usePage();
  const { flip = false } = options;
  const kind = kindOf(name);
  const tokensOf = (axis: string) =>
    axis === "query" ? scene.queries.tokens : axis === "key" ? scene.keys.tokens : undefined;
  const sizes = sizesOf(scene);
  const head = sizes.head === sizes.joined ? "" : `, head ${scene.head + 1}`;
  const saved: Saved = {
    file: name,
    caption: `${kind.title} (${kind.symbol})${head}: ${state.text.slice(0, 60)}`,
    // On the page a corner shares the labels of its neighbours; in a file it needs its own.
    rows: tokensOf(flip ? kind.cols : kind.rows),
    cols: tokensOf(flip ? kind.rows : kind.cols),
  };
  return (
    <MatrixLegend
      title={kind.title}
      symbol={<MatrixSymbol name={name} flip={flip} />}
      picture={useMatrixPicture(name, options)}
      saved={saved}
    />
  );
}
