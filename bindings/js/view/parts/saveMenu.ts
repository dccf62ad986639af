/** A menu that saves a picture as an image or as numbers. */

import { csvBlob, csvOf } from "../picture/csv.js";
import { type Bytes, download, type Film, npyOf, type Playing, svgOf } from "../picture/export.js";
import type { Ink } from "../picture/ink.js";
import type { Picture } from "../picture/paint.js";
import type { MatrixView } from "../picture/view.js";
import { buttonOf, html } from "./html.js";
import { pngOf } from "./raster.js";

/** The settings of a matrix that is saved to a file. */
export interface Saved {
  /** The file's name without its extension. */
  readonly file: string;
  readonly caption: string;
  /** The full labels of rows and columns; on the page they may be shortened or omitted. */
  readonly rows?: readonly string[] | undefined;
  readonly cols?: readonly string[] | undefined;
  /**
   * The animation of the saved picture: "cells" shows its cells one by one, a `Past` shows its
   * earlier states; by default its rows appear one by one.
   */
  readonly plays?: "cells" | Past | undefined;
}

/** The earlier states of a matrix, and its present one. */
interface Past {
  readonly caption: string;
  /** Null without an earlier state. */
  film(): Film | null;
}

/** The words of each format, and the extension of its files. */
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

function svgBlob(svg: string): Blob {
  return new Blob([svg], { type: "image/svg+xml" });
}

export function npyBlob(npy: Bytes): Blob {
  return new Blob([npy], { type: "application/octet-stream" });
}

/** A matrix as SVG with its full labels; "" without numbers. */
export function savedSvg(
  picture: Picture,
  { rows, cols, caption }: Saved,
  ink: Ink,
  playing: Playing | null = null,
): string {
  const labels = { ...picture.labels, ...(rows && { rows }), ...(cols && { cols }) };
  return svgOf({ ...picture, labels }, caption, ink, playing);
}

function movingSvg(picture: Picture, saved: Saved, ink: Ink): string {
  const { plays } = saved;
  if (typeof plays !== "object") return savedSvg(picture, saved, ink, plays ?? "rows");
  const film = plays.film();
  const caption = film ? plays.caption : saved.caption;
  return savedSvg(picture, { ...saved, caption }, ink, film ?? "rows");
}

/**
 * The formats of a picture that is drawn as an SVG.
 *
 * @param plays returns the style that animates the elements of the SVG marked with `data-plays`, if
 *   it is animated
 */
export function drawnContents(svg: () => string | Promise<string>, plays?: () => string): Contents {
  return {
    png: async () => pngOf(await svg()),
    svg: async () => svgBlob(await svg()),
    ...(plays && {
      moving: async () => svgBlob((await svg()).replace(">", `><style>${plays()}</style>`)),
    }),
  };
}

/** The formats of a matrix; none without numbers. The ink is read when a person chooses a format. */
export function contentsOf(picture: Picture, saved: Saved, inkNow: () => Ink): Contents {
  const { view } = picture;
  if (!view) return {};
  return {
    ...drawnContents(() => savedSvg(picture, saved, inkNow())),
    // Rows that share an axis of words are computed one by one, so they may also appear one by one.
    ...((saved.plays || picture.labels.rowAxis) && {
      moving: () => svgBlob(movingSvg(picture, saved, inkNow())),
    }),
    ...numbersOf(view, saved.rows, saved.cols),
  };
}

/** The formats of the numbers of a matrix, with the words of its rows and columns. */
export function numbersOf(view: MatrixView, rows: Saved["rows"], cols: Saved["cols"]): Contents {
  return {
    csv: () => csvBlob(csvOf(view, rows, cols)),
    npy: () => npyBlob(npyOf(view)),
  };
}

/** The parts of a save menu within a `details` element. The element's creator owns these parts. */
export class SaveMenu {
  readonly element: HTMLDetailsElement;
  readonly #summary = html("summary");
  readonly #choices = html("span", "save-choices");
  readonly #note = html("output");
  readonly #what: string;
  #contents: Contents = {};
  #file = "";

  /** @param what the name of the saved object, if a second menu near it saves another one */
  constructor(element = html("details"), what = "") {
    this.element = element;
    this.#what = what;
    element.className = "save";
    this.#summary.textContent = `save ${what}`.trim();
    element.append(this.#summary, this.#choices);
  }

  /** @param file the file name, without its extension */
  show(title: string, file: string, contents: Contents): void {
    const [before, now] = [this.#contents, contents].map((each) => Object.keys(each).join());
    this.#contents = contents;
    this.#file = file;
    this.#summary.setAttribute("aria-label", `Save ${this.#what && `${this.#what}: `}${title}`);
    if (before === now) return;
    const buttons = (Object.keys(contents) as Format[]).map((format) =>
      buttonOf(formats[format][0], () => this.#save(format)),
    );
    this.#choices.replaceChildren(...buttons);
  }

  /** Releases the numbers. */
  clear(): void {
    this.#contents = {};
  }

  async #save(format: Format): Promise<void> {
    this.element.open = false;
    this.#note.remove();
    const file = `heed-${this.#file}${formats[format][1]}`;
    try {
      const blob = await this.#contents[format]?.();
      if (blob) download(blob, file);
    } catch (error) {
      // A picture may be larger than the browser can paint, and a text longer than the largest string.
      this.#note.textContent = ` ${formats[format][0]} not saved: ${(error as Error).message}`;
      this.#choices.append(this.#note);
      this.element.open = true;
    }
  }
}
