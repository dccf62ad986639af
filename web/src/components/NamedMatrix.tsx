/** A matrix of the page with its name above it, alive: it points, locks, selects queries and takes paint. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { px } from "../layout";
import { kindOf, type MatrixName } from "../matrices";
import { usePage } from "../page";
import { type PictureOptions, summaryOf, usePicture } from "../pictures";
import { Legend } from "./Legend";
import { type Cell, Matrix } from "./Matrix";
import { SaveMenu } from "./SaveMenu";

function MatrixSymbol({ name, flip = false }: { name: MatrixName; flip?: boolean }) {
  const { symbol, role } = kindOf(name);
  const [letter, index] = symbol.split("_");
  return (
    <span class={role ? `symbol role-${role}` : "symbol"}>
      {letter}
      {index && <sub>{index}</sub>}
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
  /** A few words after the name, in place of the size. */
  note?: ComponentChildren;
}) {
  const page = usePage();
  const { state, scene, set, point, lock } = page;
  const picture = usePicture(name, options);
  const { flip = false } = options;
  const { rows, cols } = picture.geometry;
  const summary = useMemo(() => summaryOf(name, picture), [name, picture.view, rows, cols]);

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
  const hint =
    state.mask === "painted" && name === "masked"
      ? "Space hides or shows a cell, Enter locks it."
      : "Enter locks a cell.";

  return (
    <div class="named-matrix" data-matrix={name}>
      <div class="matrix-name" style={{ paddingLeft: px(picture.geometry.left) }}>
        <MatrixSymbol name={name} flip={flip} />
        <span class="faint number">{note ?? `${rows} × ${cols}`}</span>
      </div>
      <Matrix
        picture={picture}
        theme={page.theme}
        summary={`${summary} Arrow keys move. ${hint}`}
        actions={{
          point: (cell, by) => point(cell && upright(cell), by),
          press: (cell) => lock(upright(cell)),
          selectRow: isQueries && !flip ? (row) => set({ row }) : undefined,
          paint:
            name === "masked" && state.mask === "painted" && scene.queries.tokens.length > 0
              ? paint
              : undefined,
        }}
      />
    </div>
  );
}

/** The legend of a matrix that is drawn elsewhere, and the menu that saves it. */
export function NamedLegend({ name, options }: { name: MatrixName; options: PictureOptions }) {
  const picture = usePicture(name, options);
  return (
    <Legend
      palette={picture.palette}
      name={<MatrixSymbol name={name} flip={options.flip ?? false} />}
      hasHidden={picture.isHidden !== undefined}
    >
      <SaveMenu name={name} picture={picture} flip={options.flip ?? false} />
    </Legend>
  );
}
