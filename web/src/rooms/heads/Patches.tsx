/** A picture, and how much the lit row looks at each of its patches. */
import { useMemo } from "preact/hooks";
import type { Palette } from "../../colour";
import { HeatMap } from "../../components/HeatMap";
import type { Cell } from "../../components/Matrix";
import { usePicture } from "../../usePicture";
import { useWeightPalette } from "../../useWeightPalette";
import { viewOn } from "../../view";
import { usePage } from "./page";
import type { Seen } from "./seen";

/** Of either picture on the page, in pixels. */
const size = 168;

const grey: Palette = {
  ends: ["0", "1"],
  place: (value) => value,
  legend: (t) => [255 * t, 255 * t, 255 * t],
};

export function Patches({ picture }: { picture: NonNullable<Seen["picture"]> }) {
  const { scene, state, set } = usePage();
  const { shown, row } = scene;
  const { columns, rows } = shown.attention;
  const { pixels, side } = picture;
  // The first token stands for the class: the patches come after it, row by row.
  const across = Math.sqrt(columns.length - 1);
  const start = row * columns.length + 1;
  const seen = useMemo(() => {
    const { data, offset } = shown.weights;
    return viewOn(data, across, across, offset + start);
  }, [shown.weights, across, start]);
  const palette = useWeightPalette(state);
  const drawn = usePicture({
    ...{ view: useMemo(() => viewOn(pixels, side, side), [pixels, side]), palette: grey },
    ...{ rows: side, cols: side, cell: { width: size / side, height: size / side } },
  });
  const lit = row > 0 ? { row: Math.floor((row - 1) / across), col: (row - 1) % across } : null;
  const looked = usePicture({
    ...{ view: seen, palette, rows: across, cols: across, selected: lit },
    cell: { width: size / across, height: size / across },
  });
  const select = ({ row, col }: Cell) => set({ row: 1 + row * across + col, cell: null });
  return (
    <div class="patches">
      <HeatMap name="pixels" title="Picture" picture={drawn} />
      <HeatMap
        name="patches"
        title={row === 0 ? "Seen from the class token" : `Seen from patch ${rows[row]}`}
        note=""
        picture={looked}
        hint="Enter looks from a patch."
        actions={{ point: () => {}, press: select }}
      />
      <button type="button" aria-pressed={row === 0} onClick={() => set({ row: 0, cell: null })}>
        Look from the class token
      </button>
    </div>
  );
}
