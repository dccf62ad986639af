/** A menu that saves a picture as an image or as numbers. */

import {
  csvOf,
  download,
  inkOf,
  type Moment,
  npyOf,
  type Picture,
  type Playing,
  pngOf,
  svgOf,
} from "heed/view/parts";
import { useRef } from "preact/hooks";

/** How a matrix is saved to a file. */
export interface Saved {
  /** The file's name without its extension. */
  readonly file: string;
  readonly caption: string;
  /** The full labels of rows and columns; on the page they may be shortened or omitted. */
  readonly rows?: readonly string[] | undefined;
  readonly cols?: readonly string[] | undefined;
  /** Whether its cells appear one by one in its moving picture, or what it was before; by default its rows appear. */
  readonly plays?: "cells" | Past | undefined;
}

/** What a matrix was before, the oldest first and itself last. */
interface Past {
  readonly caption: string;
  moments(): readonly Moment[];
}

/** The words of each format, and how its files end. */
const formats = {
  png: ["PNG", ".png"],
  svg: ["SVG", ".svg"],
  moving: ["moving SVG", "-moving.svg"],
  csv: ["CSV", ".csv"],
  npy: ["NPY", ".npy"],
} as const;

type Format = keyof typeof formats;

/** The available formats; the contents are made on demand. */
export type Contents = Readonly<Partial<Record<Format, () => Blob | Promise<Blob>>>>;

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
        {Object.entries(contents).map(([format, make]) => {
          const [words, ending] = formats[format as Format];
          return (
            <button
              key={format}
              type="button"
              onClick={async () => {
                if (menu.current) menu.current.open = false;
                download(await make(), `heed-${file}${ending}`);
              }}
            >
              {words}
            </button>
          );
        })}
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
  const { rows, cols, caption, plays } = saved;
  const svg = (caption: string, playing: Playing | null = null) => {
    const labels = { ...picture.labels, ...(rows && { rows }), ...(cols && { cols }) };
    return svgOf({ ...picture, labels }, caption, inkOf(document.body), playing);
  };
  const movingSvg = () => {
    const moments = typeof plays === "object" ? plays.moments() : [];
    if (typeof plays === "object" && moments.length > 1) return svg(plays.caption, moments);
    return svg(caption, plays === "cells" ? "cells" : "rows");
  };
  const contents: Contents = {
    png: () => pngOf(svg(caption)),
    svg: () => svgBlob(svg(caption)),
    // Rows of one axis of words are computed one after the other, so they may appear so.
    ...((plays || picture.labels.rowAxis) && { moving: () => svgBlob(movingSvg()) }),
    csv: () => csvBlob(csvOf(view, rows, cols)),
    npy: () => new Blob([npyOf(view)], { type: "application/octet-stream" }),
  };
  return <SaveMenu title={title} file={saved.file} contents={contents} />;
}
