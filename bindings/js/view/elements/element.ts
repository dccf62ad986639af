/**
 * The base class of all elements: the theme, the size, and a place for an error and for notes. A subclass
 * defines `static tag`, `static rules` (properties.ts) and `static sheet`, its own style sheet, which uses
 * the theme's colours `--ink`, `--page`, `--faint`, `--frame`, `--hidden`, `--hatch`, `--accent` and `--rule`.
 */

import { type HeedError, refuse } from "../../core/error.js";
import { html, write } from "../parts/html.js";
import { Kept } from "../parts/kept.js";
import { zoomOf } from "../parts/zoom.js";
import type { ColourCurve, ColourRange, Theme } from "../picture/colour.js";
import { type Ink, inkOfProbe } from "../picture/ink.js";
import { media } from "../picture/page.js";
import type { Hides } from "../picture/view.js";
import type { HeedEvents } from "./events.js";
import type { Sides } from "./explain.js";
import { adoptSheets, followWindow } from "./follow.js";
import {
  asHeedError,
  hidesOf,
  type Mask,
  type Matrices,
  matricesOf,
  type Numbers,
  type Shaped,
  wordsOf,
} from "./input.js";
import { PropertyElement } from "./properties.js";
import { baseSheet, themes } from "./sheet.js";

/** The width of a picture before it is on a page, in pixels. */
const usualWidth = 640;

/** The parts in the shadow root of every element; a page can style them with `::part()`. */
type PartName = "frame" | "error" | "content" | "notes" | "probe";

/**
 * The base class of the elements of `heed/view`. A change shows in the next animation frame.
 * Invalid input throws no error: the element shows a sentence instead of its picture, and reports
 * the error in `error` and in the event `heed-error`. Properties with simple values are also
 * attributes: lists as JSON, lists of words also separated by spaces.
 *
 * A page restyles an element with the custom properties `--heed-ink`, `--heed-page`,
 * `--heed-faint`, `--heed-frame`, `--heed-hidden`, `--heed-hatch`, `--heed-accent` and
 * `--heed-font`, and its parts (`frame`, `content`, `notes`, `error`) with `::part()`.
 *
 * @example
 * ```ts
 * const isElement = (value: unknown) => value instanceof HeedElement;
 * console.log(isElement(null)); // prints: false
 * ```
 */
export abstract class HeedElement extends PropertyElement {
  /** The name of the element in markup. */
  static readonly tag: string;
  /** @internal */
  static readonly sheet: string = "";

  /**
   * The numbers, [L, S], [heads, L, S] or [layers, heads, L, S]. A typed array is not copied: set
   * it again if it changes.
   */
  declare data: Numbers | null;
  /** The shape of `data`, for a typed array. */
  declare shape: readonly number[] | null;
  /** The words of queries and keys, if both have the same. */
  declare tokens: readonly string[] | null;
  /** The words of the queries (rows), if they are not `tokens`. */
  declare queries: readonly string[] | null;
  /** The words of the keys (columns), if they are not `tokens`. */
  declare keys: readonly string[] | null;
  /** [L, S], false or 0 where a key is hidden; "causal" hides key j from query i if j > i. */
  declare mask: Mask;
  /** The role of each token, such as "subject", shown after the token in the readout of a cell. */
  declare roles: readonly string[] | null;
  /** "auto" follows the page's color-scheme and the person's setting. */
  declare theme: "auto" | Theme;
  /** The value with the strongest colour: a weight of 1, or the largest one of the head or of the row. */
  declare range: ColourRange;
  /** The curve from weight to colour. */
  declare curve: ColourCurve;
  /** "none" hides the save menu and other buttons. */
  declare controls: "all" | "none";
  /** The language for the format of numbers, such as "de-CH"; the page's by default. */
  declare locale: string;
  /** The title of the picture, for screen readers, captions and file names. */
  declare label: string;

  #connection: AbortController | null = null;
  #error: HeedError | null = null;
  #width = 0;
  #ink: Ink | null = null;
  #theme: Theme = "light";
  /** @internal */
  protected isPrinting = false;
  readonly #matrices = new Kept<Matrices>();
  readonly #hides = new Kept<Hides | undefined>();
  #parts: Readonly<Record<PartName, HTMLElement>> | null = null;

  /** The error that the element shows instead of a picture; null if it shows the picture. */
  get error(): HeedError | null {
    return this.#error;
  }

  /** @internal */
  override connectedCallback(): void {
    super.connectedCallback();
    this.#build();
    const { sheet } = this.constructor as typeof HeedElement;
    adoptSheets(this.shadowRoot as ShadowRoot, [baseSheet, sheet]);
    this.#ink = null;
    this.#connection = new AbortController();
    const { signal } = this.#connection;
    this.#follow(signal);
    const release = ({ key }: KeyboardEvent) => {
      if (key === "Escape") this.release();
    };
    this.page.addEventListener("keydown", release, { signal });
    this.connected(signal);
    this.requestUpdate("connection");
  }

  /** @internal */
  override disconnectedCallback(): void {
    this.#connection?.abort();
    this.#connection = null;
    super.disconnectedCallback();
  }

  /** @internal Whether the person's settings match a media feature. */
  protected prefers(what: string): boolean {
    return media(this.page, `(prefers-${what})`)?.matches ?? false;
  }

  #part(name: PartName): HTMLElement {
    this.#build();
    return (this.#parts as Readonly<Record<PartName, HTMLElement>>)[name];
  }

  #build(): void {
    if (this.#parts !== null) return;
    const root = this.attachShadow({ mode: "open" });
    const add = (part: PartName, parent: Node) => {
      const element = parent.appendChild(html("div"));
      element.setAttribute("part", part);
      return element;
    };
    const frame = add("frame", root);
    const parts = {
      frame,
      error: add("error", frame),
      content: add("content", frame),
      notes: add("notes", frame),
      probe: add("probe", frame),
    };
    parts.error.setAttribute("role", "alert");
    parts.probe.setAttribute("aria-hidden", "true");
    this.#parts = parts;
    this.build();
  }

  /** Follows the theme, the resolution and the width until the signal is aborted. */
  #follow(signal: AbortSignal): void {
    const changed = () => {
      this.#ink = null;
      this.requestUpdate("theme");
    };
    followWindow(this.page, this.content, signal, {
      changed,
      // For print, the element is drawn immediately, without another frame, and in light colours.
      print: (isPrinting) => {
        this.isPrinting = isPrinting;
        changed();
        this.updateNow();
      },
      resized: (width) => {
        if (width === this.#width || width === 0) return;
        this.#width = width;
        this.requestUpdate("width");
      },
    });
  }

  /**
   * @internal Draws all changes now, without waiting for a frame. Exports need this, because a program may export
   * directly after it sets a property.
   */
  protected updateNow(): void {
    // A change that a listener makes during this drawing is drawn in another frame.
    // After an error, the earlier drawing may not fit: "error" tells `update` not to rely on it.
    const [changed, refusal, resolve] = this.takeChanges();
    if (this.#error) changed.add("error");
    try {
      this.#applyTheme();
      if (refusal) throw refusal;
      this.update(changed);
      this.#showError(null);
    } catch (error) {
      this.#showError(asHeedError(error, (this.constructor as typeof HeedElement).tag));
    }
    resolve?.();
  }

  /**
   * @internal Draws all changes and returns the drawn data, for a file.
   *
   * @param read returns the drawn data; null without numbers
   * @param name the properties that contain the numbers
   * @throws HeedError without numbers, or the error in `error`
   */
  protected drawn<Shown>(read: () => Shown | null, name = "data"): Shown {
    this.updateNow();
    const shown = read();
    if (this.#error === null && shown !== null) return shown;
    throw this.#error ?? refuse("option", name, "numbers", "null");
  }

  /** Sets the theme's class, from which the style sheet takes the colours. */
  #applyTheme(): void {
    const frame = this.#part("frame");
    const own = this.theme === "auto" ? getComputedStyle(this).colorScheme : this.theme;
    const auto = this.prefers("color-scheme: dark") ? "dark" : "light";
    const theme = this.isPrinting ? "light" : own === "light" || own === "dark" ? own : auto;
    if (theme !== this.#theme || frame.className === "") this.#ink = null;
    this.#theme = theme;
    frame.className = theme;
    if (this.locale) frame.lang = this.locale;
    else frame.removeAttribute("lang");
  }

  /** Shows an error instead of the picture, or the picture. */
  #showError(error: HeedError | null): void {
    const isNew = error !== null && error.message !== this.#error?.message;
    this.#error = error;
    const [place, content] = [this.#part("error"), this.#part("content")];
    content.hidden = error !== null;
    this.#part("notes").hidden = error !== null;
    write(place, error?.message ?? "");
    if (isNew) this.emit("heed-error", error);
  }

  /** @internal Creates the parts of `this.content` that do not depend on properties; called once. */
  protected abstract build(): void;

  /**
   * @internal Draws. An error that this method throws is shown in the element.
   *
   * @param changed the names of the changed properties, and "connection", "theme", "width" and
   *   "error"
   */
  protected abstract update(changed: ReadonlySet<string>): void;

  /**
   * @internal Called whenever the element is connected to a page.
   *
   * @param signal aborted when the element leaves the page
   */
  protected connected(_signal: AbortSignal): void {}

  /**
   * @internal Releases the cell that is pointed at and the locked one: called when Escape is pressed anywhere on the
   * page.
   */
  protected release(): void {}

  /** @internal The container of the element's parts. */
  protected get content(): HTMLElement {
    return this.#part("content");
  }

  /** @internal The matrices of `data`; null if there is none. The same object until `data` or `shape` is set. */
  protected get matrices(): Matrices | null {
    const parts = this.taken<readonly Shaped[] | null>("data");
    const shape = this.taken<readonly number[] | null>("shape");
    if (parts === null) {
      this.#matrices.clear();
      return null;
    }
    return this.#matrices.of([parts, shape], () => matricesOf("data", parts, shape));
  }

  /**
   * @internal The words of `rows` queries and `cols` keys: `queries` and `keys`, or `tokens`; undefined for a side
   * without words. `roles` is included, for the sides with the same number of tokens.
   */
  protected words(rows: number, cols: number): Sides {
    const side = (name: string, count: number) => {
      const own = this.taken<readonly string[] | null>(name);
      const tokens = this.taken<readonly string[] | null>("tokens");
      if (own !== null) return wordsOf(name, own, count);
      return tokens === null ? undefined : wordsOf("tokens", tokens, count);
    };
    const roles = this.taken<readonly string[] | null>("roles");
    if (roles !== null && ![rows, cols].includes(roles.length)) wordsOf("roles", roles, cols);
    return { queries: side("queries", rows), keys: side("keys", cols), roles: roles ?? undefined };
  }

  /**
   * @internal The function that tells which cells of a matrix of this size the mask hides. The function stays the same
   * object until the mask or the size changes.
   */
  protected hides(rows: number, cols: number): Hides | undefined {
    const mask = this.taken<"causal" | Shaped | null>("mask");
    return this.#hides.of([mask, rows, cols], () => hidesOf(mask, rows, cols));
  }

  /** @internal The theme in which to draw. */
  protected get colours(): Theme {
    return this.#theme;
  }

  /** @internal The colours and the font for drawing: the same object until the theme or the window changes. */
  protected get ink(): Ink {
    this.#ink ??= {
      ...themes[this.#theme],
      ...(this.isConnected && inkOfProbe(this.#part("probe"))),
    };
    return this.#ink;
  }

  /** @internal The number of screen pixels in a CSS pixel of the element. */
  protected get ratio(): number {
    return this.page.devicePixelRatio * zoomOf(this);
  }

  /** @internal The width available to the picture, in CSS pixels. */
  protected get width(): number {
    this.#width ||= Math.floor(this.content.clientWidth);
    return this.#width || usualWidth;
  }

  /** @internal Shows sentences below the picture. */
  protected showNotes(notes: readonly string[]): void {
    const place = this.#part("notes");
    const lines = notes.map((note) => html("p", "", note));
    if (place.textContent !== notes.join("")) place.replaceChildren(...lines);
  }

  /** @internal Sends an event. */
  protected emit<Name extends keyof HeedEvents>(
    name: Name,
    detail: HeedEvents[Name]["detail"],
  ): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}
