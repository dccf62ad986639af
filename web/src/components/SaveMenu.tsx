/** Saves the matrix beside it as a picture or as numbers. */
import { useRef } from "preact/hooks";
import { csvOf, download, npyOf, pngOf, svgOf } from "../export";
import { geometryOf } from "../layout";
import { inkOf, type Picture } from "../paint";

/** How a matrix stands in a file of its own. */
export interface Saved {
  /** The file's name, without what says its kind. */
  readonly file: string;
  readonly caption: string;
  /** The whole words of rows and columns; on the page they may be shortened or left to a neighbour. */
  readonly rows?: readonly string[] | undefined;
  readonly cols?: readonly string[] | undefined;
}

const formats = ["png", "svg", "csv", "npy"] as const;

export function SaveMenu({
  title,
  picture,
  saved,
}: {
  title: string;
  picture: Picture;
  saved: Saved;
}) {
  const menu = useRef<HTMLDetailsElement>(null);
  const { view } = picture;
  if (!view) return null;
  const { rows, cols, caption } = saved;

  const svg = () => {
    const labels = { ...picture.labels, ...(rows && { rows }), ...(cols && { cols }) };
    const { geometry: g } = picture;
    const cell = { width: g.cellWidth, height: g.cellHeight };
    const geometry = geometryOf(g.rows, g.cols, cell, labels);
    return svgOf({ ...picture, labels, geometry }, caption, inkOf(document.body));
  };
  const contents: Record<(typeof formats)[number], () => Blob | Promise<Blob>> = {
    png: () => pngOf(svg()),
    svg: () => new Blob([svg()], { type: "image/svg+xml" }),
    csv: () => new Blob([csvOf(view, rows, cols)], { type: "text/csv" }),
    npy: () => new Blob([npyOf(view)], { type: "application/octet-stream" }),
  };

  return (
    <details ref={menu} class="save">
      <summary aria-label={`Save ${title}`}>save</summary>
      <span class="save-choices">
        {formats.map((format) => (
          <button
            key={format}
            type="button"
            onClick={async () => {
              if (menu.current) menu.current.open = false;
              download(await contents[format](), `heed-${saved.file}.${format}`);
            }}
          >
            {format.toUpperCase()}
          </button>
        ))}
      </span>
    </details>
  );
}
