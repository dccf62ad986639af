/**
 * Draws an SVG file of this library on a canvas, and converts it to PNG. An image element would
 * need an address, which a content security policy may forbid (img-src). Only the shapes and
 * attributes of this library's files are drawn.
 */

import { HeedError, refuse } from "../../core/error.js";
import { hiddenFill } from "../picture/export.js";
import { hasCanvas } from "../picture/page.js";

/** The PNG's pixels along a side for each pixel of the SVG. */
const ratio = 2;

type Context = CanvasRenderingContext2D;

/** The attributes that shapes inherit from their groups. */
type Look = Record<string, string>;

const plain: Look = {
  ...{ fill: "#000", stroke: "none", visibility: "visible", "paint-order": "normal" },
  ...{ "font-weight": "400", "font-size": "12px", "font-family": "sans-serif" },
  ...{ "text-anchor": "start", "dominant-baseline": "auto" },
};
const inherited = Object.keys(plain);

const numberOf = (element: Element, name: string, otherwise = 0): number => {
  const value = Number.parseFloat(element.getAttribute(name) ?? "");
  return Number.isNaN(value) ? otherwise : value;
};

const numbersIn = (text: string | null): number[] =>
  text?.match(/-?[\d.]+(e-?\d+)?/g)?.map(Number) ?? [];

function lookOf(element: Element, outer: Look): Look {
  const look = { ...outer };
  for (const name of inherited) {
    const own = element.getAttribute(name);
    if (own !== null) look[name] = own;
  }
  return look;
}

/** Applies the translations and rotations that these files use. */
function transform(context: Context, element: Element): void {
  const all = (element.getAttribute("transform") ?? "").matchAll(/(\w+)\(([^)]*)\)/g);
  for (const [, name, list = ""] of all) {
    const [first = 0, x = 0, y = 0] = numbersIn(list);
    if (name === "translate") context.translate(first, x);
    else {
      context.translate(x, y);
      context.rotate((first * Math.PI) / 180);
      context.translate(-x, -y);
    }
  }
}

/** The outline of a shape; null for any other element. */
function pathOf(element: Element): Path2D | null {
  const at = (name: string) => numberOf(element, name);
  const path = new Path2D(element.getAttribute("d") ?? "");
  const name = element.localName;
  if (name === "rect")
    path.roundRect(at("x"), at("y"), at("width"), at("height"), numberOf(element, "rx", at("ry")));
  else if (name === "circle") path.arc(at("cx"), at("cy"), at("r"), 0, 2 * Math.PI);
  else if (name === "line") {
    path.moveTo(at("x1"), at("y1"));
    path.lineTo(at("x2"), at("y2"));
  } else if (name !== "path") return null;
  return path;
}

function canvasOf({ width, height }: { width: number; height: number }): HTMLCanvasElement {
  return Object.assign(document.createElement("canvas"), { width, height });
}

/** The hatching of hidden cells, made for the whole picture: a small tile would have seams when it is rotated. */
function hatching(svg: Element, { width, height }: HTMLCanvasElement): CanvasPattern | null {
  if (!svg.querySelector(`[fill="${hiddenFill}"]`)) return null;
  const [ground, line] = Array.from(svg.querySelectorAll("#hidden rect"));
  const canvas = canvasOf({ width, height });
  const context = canvas.getContext("2d");
  if (!context || !ground || !line) return null;
  context.fillStyle = ground.getAttribute("fill") ?? "";
  context.fillRect(0, 0, width, height);
  context.scale(ratio, ratio);
  context.rotate(Math.PI / 4);
  context.fillStyle = line.getAttribute("fill") ?? "";
  const [step, most] = [numberOf(ground, "width", 6), (width + height) / ratio];
  for (let x = 0; x < most; x += step)
    context.fillRect(x, -most, numberOf(line, "width", 1), 2 * most);
  const pattern = context.createPattern(canvas, "no-repeat");
  pattern?.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}

/** An image within the picture, whose data URL contains its bytes. */
async function bitmapOf(element: Element): Promise<ImageBitmap> {
  const [, data = ""] = (element.getAttribute("href") ?? "").split(",");
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  return createImageBitmap(new Blob([bytes], { type: "image/png" }));
}

class Drawing {
  #context: Context;
  readonly #root: Element;
  readonly #hidden: CanvasPattern | null;
  readonly #bitmaps: ReadonlyMap<Element, ImageBitmap>;

  constructor(context: Context, root: Element, bitmaps: ReadonlyMap<Element, ImageBitmap>) {
    this.#context = context;
    this.#root = root;
    this.#hidden = hatching(root, context.canvas);
    this.#bitmaps = bitmaps;
  }

  draw(element: Element, outer: Look): void {
    const context = this.#context;
    const look = lookOf(element, outer);
    context.save();
    transform(context, element);
    this.#clip(element);
    const { localName: name } = element;
    const bitmap = this.#bitmaps.get(element);
    const path = bitmap || name === "text" ? null : pathOf(element);
    if (bitmap) this.#drawBitmap(element, bitmap);
    else if (name === "text") this.#write(element, look);
    else if (path)
      this.#paint(
        element,
        look,
        () => context.fill(path),
        () => context.stroke(path),
      );
    else if (name === "svg" || name === "g") this.#drawGroup(element, look);
    context.restore();
  }

  #clip(element: Element): void {
    const [, id] = /#(.*)\)/.exec(element.getAttribute("clip-path") ?? "") ?? [];
    const shape = id && this.#root.querySelector(`[id="${id}"] > *`);
    const path = shape ? pathOf(shape) : null;
    if (path) this.#context.clip(path);
  }

  /** Draws a group with an opacity on another canvas first, because its shapes may overlap. */
  #drawGroup(element: Element, look: Look): void {
    const opacity = numberOf(element, "opacity", 1);
    const context = this.#context;
    const layer = opacity === 1 ? null : canvasOf(context.canvas).getContext("2d");
    layer?.setTransform(context.getTransform());
    this.#context = layer ?? context;
    for (const child of Array.from(element.children)) this.draw(child, look);
    this.#context = context;
    if (!layer) return;
    context.resetTransform();
    context.globalAlpha = opacity;
    context.drawImage(layer.canvas, 0, 0);
  }

  #paint(element: Element, look: Look, fill: () => void, stroke: () => void): void {
    const context = this.#context;
    if (look.visibility === "hidden") return;
    const { fill: colour = "", stroke: line = "" } = look;
    const opacity = numberOf(element, "opacity", 1);
    const fills = () => {
      if (colour === "none") return;
      context.globalAlpha = opacity * numberOf(element, "fill-opacity", 1);
      context.fillStyle = colour === hiddenFill ? (this.#hidden ?? "#0000") : colour;
      fill();
    };
    const strokes = () => {
      if (line === "none") return;
      context.globalAlpha = opacity * numberOf(element, "stroke-opacity", 1);
      context.strokeStyle = line;
      context.lineWidth = numberOf(element, "stroke-width", 1);
      context.setLineDash(numbersIn(element.getAttribute("stroke-dasharray")));
      stroke();
    };
    const isBelow = look["paint-order"]?.startsWith("stroke");
    for (const paint of isBelow ? [strokes, fills] : [fills, strokes]) paint();
  }

  #write(element: Element, look: Look): void {
    const context = this.#context;
    const words = (element.textContent ?? "").replace(/\s+/g, " ").trim();
    const size = Number.parseFloat(look["font-size"] ?? "");
    context.font = `${look["font-weight"]} ${size}px ${look["font-family"]}`;
    const anchor = look["text-anchor"] as "start" | "middle" | "end";
    context.textAlign = anchor === "middle" ? "center" : anchor;
    const { fontBoundingBoxAscent: over, fontBoundingBoxDescent: under } = context.measureText("");
    const lower = look["dominant-baseline"] === "central" ? (over - under) / 2 : 0;
    const [x, y] = [numberOf(element, "x"), numberOf(element, "y") + lower];
    this.#paint(
      element,
      look,
      () => context.fillText(words, x, y),
      () => context.strokeText(words, x, y),
    );
  }

  #drawBitmap(element: Element, bitmap: ImageBitmap): void {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) =>
      numberOf(element, name),
    ) as [number, number, number, number];
    this.#context.imageSmoothingEnabled = false;
    this.#context.drawImage(bitmap, x, y, width, height);
  }
}

/** Throws a HeedError if drawing on a canvas is not possible, as in a component test. */
export function needCanvas(what: string): void {
  if (!hasCanvas()) throw refuse("unsupported", what, "a canvas to draw on", "none");
}

/**
 * Makes a PNG of an SVG file, at twice its width and height.
 *
 * @throws HeedError if there is no canvas or no picture, or if the picture is larger than the
 *   browser can paint
 */
export async function pngOf(svg: string): Promise<Blob> {
  needCanvas("png");
  const { documentElement: root } = new DOMParser().parseFromString(
    svg || "<svg/>",
    "image/svg+xml",
  );
  const canvas = canvasOf({
    width: numberOf(root, "width") * ratio,
    height: numberOf(root, "height") * ratio,
  });
  const context = canvas.getContext("2d") as Context;
  const bitmaps = new Map<Element, ImageBitmap>();
  for (const image of Array.from(root.querySelectorAll("image")))
    bitmaps.set(image, await bitmapOf(image));
  context.scale(ratio, ratio);
  new Drawing(context, root, bitmaps).draw(root, plain);
  for (const bitmap of bitmaps.values()) bitmap.close();
  return new Promise<Blob>((resolve, reject) =>
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new HeedError("unsupported", "the browser made no image"));
    }, "image/png"),
  );
}
