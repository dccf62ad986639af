/** A menu that saves a picture as an image or as numbers. */
import { useRef } from "preact/hooks";
import { csvOf, download, npyOf, pngOf, svgOf } from "./export";
import { inkOf } from "./ink";
import type { Picture } from "./paint";

/** How a matrix is saved to a file. */
export interface Saved {
  /** The file's name without its extension. */
  readonly file: string;
  readonly caption: string;
  /** The full labels of rows and columns; on the page they may be shortened or omitted. */
  readonly rows?: readonly string[] | undefined;
  readonly cols?: readonly string[] | undefined;
}

/** The available formats; the contents are made on demand. */
export type Contents = Readonly<
  Partial<Record<"png" | "svg" | "csv" | "npy", () => Blob | Promise<Blob>>>
>;

export function svgBlob(svg: string): Blob {
  return new Blob([svg], { type: "image/svg+xml" });
}

export function csvBlob(csv: string): Blob {
  return new Blob([csv], { type: "text/csv" });
}

export function SaveMenu({
  title,
  file,
  contents,
}: {
  title: string;
  file: string;
  contents: Contents;
}) {
  const menu = useRef<HTMLDetailsElement>(null);
  return (
    <details ref={menu} class="save">
      <summary aria-label={`Save ${title}`}>save</summary>
      <span class="save-choices">
        {Object.entries(contents).map(([format, make]) => (
          <button
            key={format}
            type="button"
            onClick={async () => {
              if (menu.current) menu.current.open = false;
              download(await make(), `heed-${file}.${format}`);
            }}
          >
            {format.toUpperCase()}
          </button>
        ))}
      </span>
    </details>
  );
}

export function SaveMatrix({
  title,
  picture,
  saved,
}: {
  title: string;
  picture: Picture;
  saved: Saved;
}) {
  const { view } = picture;
  if (!view) return null;
  const { rows, cols, caption } = saved;
  const svg = () => {
    const labels = { ...picture.labels, ...(rows && { rows }), ...(cols && { cols }) };
    return svgOf({ ...picture, labels }, caption, inkOf(document.body));
  };
  const contents: Contents = {
    png: () => pngOf(svg()),
    svg: () => svgBlob(svg()),
    csv: () => csvBlob(csvOf(view, rows, cols)),
    npy: () => new Blob([npyOf(view)], { type: "application/octet-stream" }),
  };
  return <SaveMenu title={title} file={saved.file} contents={contents} />;
}
