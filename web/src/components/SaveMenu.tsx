/** Saves the matrix beside it as a picture or as numbers. */
import { useRef } from "preact/hooks";
import { csvOf, download, pngOf, svgOf } from "../export";
import { geometryOf } from "../layout";
import { kindOf, type MatrixName } from "../matrices";
import { usePage } from "../page";
import { inkOf, type Picture } from "../paint";
import { sizesOf } from "../pictures";

export function SaveMenu({
  name,
  picture,
  flip,
}: {
  name: MatrixName;
  picture: Picture;
  flip: boolean;
}) {
  const { scene, state } = usePage();
  const menu = useRef<HTMLDetailsElement>(null);
  const { view } = picture;
  if (!view) return null;
  const kind = kindOf(name);
  const tokensOf = (axis: string) =>
    axis === "query" ? scene.queries.tokens : axis === "key" ? scene.keys.tokens : undefined;
  const rows = tokensOf(flip ? kind.cols : kind.rows);
  const cols = tokensOf(flip ? kind.rows : kind.cols);
  const head = sizesOf(scene).head === sizesOf(scene).joined ? "" : `, head ${scene.head + 1}`;
  const caption = `${kind.title} (${kind.symbol})${head}: ${state.text.slice(0, 60)}`;

  const save = async (format: "png" | "svg" | "csv") => {
    if (menu.current) menu.current.open = false;
    const file = `heed-${name}.${format}`;
    if (format === "csv") {
      download(new Blob([csvOf(view, rows, cols)], { type: "text/csv" }), file);
      return;
    }
    // Corners have no tokens of their own on the page, but stand alone in a file.
    const labels = { ...picture.labels, ...(rows && { rows }), ...(cols && { cols }) };
    const { geometry: g } = picture;
    const geometry = geometryOf(
      g.rows,
      g.cols,
      { width: g.cellWidth, height: g.cellHeight },
      labels,
    );
    const svg = svgOf({ ...picture, labels, geometry }, caption, inkOf(document.body));
    download(
      format === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await pngOf(svg),
      file,
    );
  };

  return (
    <details ref={menu} class="save">
      <summary aria-label={`Save ${kind.title}`}>save</summary>
      <span class="save-choices">
        <button type="button" onClick={() => save("png")}>
          PNG
        </button>
        <button type="button" onClick={() => save("svg")}>
          SVG
        </button>
        <button type="button" onClick={() => save("csv")}>
          CSV
        </button>
      </span>
    </details>
  );
}
