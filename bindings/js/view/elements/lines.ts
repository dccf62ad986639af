/** `<heed-lines>`: shows with lines which token attends to which. */

import { html, spanOf } from "../parts/html.js";
import { areApart, LineDrawing, linesHeight } from "../parts/lines.js";
import { tokenLabel } from "../parts/pieces.js";
import { drawingSvg } from "../parts/saveDrawing.js";
import { drawnContents, numbersOf } from "../parts/saveMenu.js";
import { choosing, type Line, type LineLook, strongestOfRow } from "../parts/strongest.js";
import type { Job } from "../picture/job.js";
import { type Area, type Cell, isSame, px } from "../picture/layout.js";
import { appearing } from "../picture/moving.js";
import { attendsWords, cellIn, fileOf, largestCells } from "./attends.js";
import type { CellDetail } from "./events.js";
import { findingIn, notesAbout } from "./input.js";
import { labelling, type SideLabels } from "./labels.js";
import { MatrixElement, matrixRules, type ShownMatrix } from "./matrixElement.js";
import { isTouch } from "./readout.js";
import { make } from "./registry.js";
import { cell } from "./rules.js";
import { barSheet, linesSheet, matrixSheet } from "./sheet.js";
import { share } from "./sliced.js";

/** The milliseconds between drawings while lines are searched. */
const pace = 400;

const usualLabel = "Attention as lines";

/** The content of the picture, without the highlights of the pointer. */
interface Shown extends ShownMatrix, SideLabels {
  readonly look: LineLook;
}

/**
 * `<heed-lines>`: lines from queries, on the left, to the keys that they attend to, stronger for
 * larger weights. For each query, the strongest lines are drawn that together carry the share
 * `mass` of its attention. Pointing at a token or a line colours it and shows its number. A click
 * on a query selects it, a click on a line locks it, and Escape releases both. Arrow keys move from
 * query to query, and from line to line. If `data` has several heads, `layer` and `head` choose
 * one.
 *
 * @example
 * ```ts
 * console.log(HeedLines.tag); // prints: heed-lines
 * if (globalThis.document) {
 *   const element = lines({ data: [[1, 0], [0.25, 0.75]], tokens: ["I", "see"], mass: 1 });
 *   element.addEventListener("heed-select", ({ detail }) => console.log(detail.row));
 *   document.body.append(element);
 * }
 * ```
 */
export class HeedLines extends MatrixElement<Shown> {
  static override readonly tag = "heed-lines";
  /** @internal */
  static override readonly rules = { ...matrixRules, mass: share(0.8), locked: cell };
  /** @internal */
  static override readonly sheet = matrixSheet + barSheet + linesSheet;

  /** The share of each query's attention, 0 to 1, that the lines carry. */
  declare mass: number;
  /** The locked line, from a query (row) to a key (col); null if there is none. */
  declare locked: Cell | null;
  /** The selected query, from 0; null if there is none. */
  declare row: number | null;

  #hover: Area | null = null;
  #isByKeyboard = false;
  readonly #labels = labelling(tokenLabel);
  #lines: readonly Line[] = [];
  #done: number | null = null;
  #lit: { readonly area: Area; readonly own: readonly Line[] | undefined } | null = null;
  readonly #frame = html("div");
  readonly #drawing = new LineDrawing();
  readonly #place = html("div");
  readonly #slider = html("input");
  readonly #carried = html("output");

  /** @internal */
  protected override build(): void {
    const place = this.#place;
    place.className = "token-lines";
    place.setAttribute("part", "lines");
    place.setAttribute("role", "application");
    place.setAttribute("aria-roledescription", "lines");
    place.tabIndex = 0;
    place.append(this.#drawing.svg);
    place.addEventListener("pointermove", (event) => this.#point(this.#under(event), "pointer"));
    place.addEventListener("pointerleave", () => this.#point(null, "pointer"));
    place.addEventListener("click", (event) => this.#press(this.#under(event)));
    place.addEventListener("keydown", (event) => this.#key(event));
    place.addEventListener("blur", () => this.#point(null, "keyboard"));
    this.#slider.type = "range";
    this.#slider.max = "100";
    this.#slider.step = "5";
    this.#slider.addEventListener("input", () => {
      this.mass = Number(this.#slider.value) / 100;
    });
    const label = html("label", "", "Lines that carry ", this.#slider, " ", this.#carried);
    label.setAttribute("part", "mass");
    const bar = html("div", "bar");
    bar.setAttribute("part", "controls");
    bar.append(label, this.menu.element);
    const sides = html("div", "sides faint", spanOf("", "queries attend →"), spanOf("", "→ keys"));
    this.#frame.append(sides, place, bar, this.readout.element);
    this.content.append(this.#frame);
  }

  /** @internal */
  protected override release(): void {
    this.#point(null, "pointer");
    this.#lock(null);
  }

  /** @internal */
  protected override update(changed: ReadonlySet<string>): void {
    const isOther = [...changed].some(
      (name) => !["hover", "locked", "row", "lines"].includes(name),
    );
    const isMoved = isOther && [...changed].every((name) => ["width", "theme"].includes(name));
    if (isOther) this.shown = this.#look();
    const shown = this.shown;
    this.#frame.hidden = shown === null;
    if (shown === null) return;
    if (this.isOutside("locked", shown.view)) this.#lock(null);
    if (this.isOutside("row", shown.view)) this.select(null);
    if (isOther && !isMoved) this.#choose(shown);
    if (isOther || changed.has("lines")) this.#describe(shown);
    this.#draw(shown);
  }

  #look(): Shown | null {
    const [mass, range, curve] = [
      this.taken<number>("mass"),
      this.taken<LineLook["range"]>("range"),
      this.taken<LineLook["curve"]>("curve"),
    ];
    const shown = this.basis("weights", usualLabel);
    if (shown === null) return null;
    return { ...shown, ...this.#labels(shown), look: { mass, range, curve } };
  }

  /** Finds the lines, and then the facts for the notes: immediately, or in slices for large matrices. */
  #choose({ view, look }: Shown): void {
    const element = this;
    let drawn = performance.now();
    // Shows the lines found so far from time to time, because the whole search may take seconds.
    const show = (found: readonly Line[]) => {
      if (performance.now() - drawn < pace) return;
      element.#lines = [...found];
      drawn = performance.now();
    };
    function* read(): Job {
      const job = choosing(view, look, show);
      let step = job.next();
      for (; !step.done; step = job.next()) {
        element.#done = step.value ?? element.#done;
        element.requestUpdate("lines");
        yield step.value;
      }
      element.#lines = step.value;
      element.#lit = null;
      element.#done = null;
      element.requestUpdate("lines");
      element.showNotes(notesAbout(yield* findingIn(view), true));
    }
    this.#lines = [];
    this.#lit = null;
    this.#done = 0;
    this.begin(read(), view.rows * view.cols);
  }

  #describe({ label, view, look, words }: Shown): void {
    const percent = Math.round(100 * look.mass);
    this.#slider.value = `${percent}`;
    this.#carried.textContent = percent === 100 ? "all attention" : `the top ${percent} %`;
    this.#place.setAttribute(
      "aria-label",
      `${label}, ${view.rows} queries and ${view.cols} keys. Up and down arrow keys move from query to query, left and right from line to line. Enter keeps a line.`,
    );
    (this.#place.nextElementSibling as Element).toggleAttribute("hidden", this.controls === "none");
    this.menu.show(label, fileOf(label), {
      ...drawnContents(
        () => this.svg(),
        this.#done === null && areApart(this.#lines) ? () => appearing(view.rows) : undefined,
      ),
      ...numbersOf(view, words.queries, words.keys),
    });
  }

  /** The coloured area: the locked line, else the area that is pointed at, else the selected query. */
  #active(): Area | null {
    const { row } = this;
    return this.locked ?? this.#hover ?? (row === null ? null : { row });
  }

  #draw(shown: Shown): void {
    const { view, queries, keys } = shown;
    const { rows, cols } = view;
    const [active, hover] = [this.#active(), this.#hover];
    if (hover && ((hover.row ?? 0) >= rows || (hover.col ?? 0) >= cols)) this.#hover = null;
    if (!active) this.#lit = null;
    else if (!isSame(this.#lit?.area ?? null, active))
      this.#lit = { area: active, own: this.#linesOf(shown, active) };
    this.#place.style.height = px(linesHeight(queries, keys));
    this.#drawing.draw({
      ...{ queries, keys, lines: this.#lines, lit: this.#lit?.area ?? null },
      ...{ width: this.width, family: this.ink.family },
      ...(this.#lit?.own && { own: this.#lit.own }),
    });
    this.#read(shown, active);
  }

  /** All lines of a query, including weaker ones that the picture omits. */
  #linesOf({ view, look }: Shown, { row, col }: Area): readonly Line[] | undefined {
    if (row === undefined) return undefined;
    if (col === undefined) return strongestOfRow(view, row, look);
    return strongestOfRow(view, row, { ...look, mass: 1 }).filter((line) => line.col === col);
  }

  #read(shown: Shown, active: Area | null): void {
    const hint = isTouch()
      ? "Tap a token to see what it attends to."
      : "Point at a token or a line to see what attends to what; a click keeps it.";
    const done = this.#done;
    const busy = done === null ? hint : `Choosing the strongest lines: ${Math.round(100 * done)} %`;
    this.readout.show(active && attendsWords(shown, active), {
      hint: busy,
      isKept: this.locked !== null,
      isHeard: this.#isByKeyboard,
    });
  }

  #under({ clientX, clientY }: MouseEvent): Area | null {
    const { left, top, width } = this.#drawing.svg.getBoundingClientRect();
    const zoom = width / (this.#drawing.svg.clientWidth || width) || 1;
    return this.#drawing.hit((clientX - left) / zoom, (clientY - top) / zoom);
  }

  /** The event's detail. For a token, it is the token's strongest line. */
  #detail(area: Area | null): CellDetail | null {
    return this.detail(area && this.shown && cellIn(this.shown, area));
  }

  #point(area: Area | null, by: "pointer" | "keyboard"): void {
    this.#isByKeyboard = by === "keyboard";
    if (isSame(this.#hover, area)) return;
    this.#hover = area;
    this.emit("heed-hover", this.#detail(area));
    this.requestUpdate("hover");
    // The next key press counts from here, and may come before the next frame.
    if (by === "keyboard" && this.isConnected) this.updateNow();
  }

  #press(area: Area | null): void {
    if (area?.row !== undefined && area.col !== undefined) {
      const { row, col } = area;
      this.#lock(isSame(this.locked, area) ? null : { row, col });
    } else if (area?.row !== undefined) {
      this.#lock(null);
      this.select(this.row === area.row ? null : area.row);
    } else {
      this.#lock(null);
    }
  }

  #lock(kept: Cell | null): void {
    if (isSame(this.locked, kept)) return;
    this.setByPerson("locked", kept);
    this.emit("heed-lock", this.#detail(kept));
  }

  #key(event: KeyboardEvent): void {
    const shown = this.shown;
    if (!shown) return;
    const { rows, cols } = shown.view;
    const now = this.locked ?? this.#hover ?? { row: this.row ?? -1 };
    const row = now.row ?? -1;
    const to = (next: number) => ({ row: Math.max(0, Math.min(rows - 1, next)) });
    const along = (step: number): Area => {
      const order = largestCells(shown, to(row), cols);
      const place = order.findIndex(({ col }) => col === now.col) + step;
      const next =
        order[Math.max(0, Math.min(order.length - 1, now.col === undefined ? 0 : place))];
      return next ? { row: next.row, col: next.col } : to(row);
    };
    const moves: Record<string, () => Area> = {
      ArrowUp: () => to(row - 1),
      ArrowDown: () => to(row + 1),
      Home: () => to(0),
      End: () => to(rows - 1),
      ArrowLeft: () => along(-1),
      ArrowRight: () => along(1),
    };
    const move = moves[event.key];
    if (move) {
      if (this.locked) this.#lock(null);
      this.#point(move(), "keyboard");
    } else if (event.key === "Enter" || event.key === " ") this.#press(this.#active());
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * The lines as a stand-alone SVG, with its caption; empty if the element is not on a page.
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  svg(): string {
    const { label } = this.saved();
    return drawingSvg(this.#place, label, this.ink);
  }
}

/**
 * Creates a `<heed-lines>`, and registers it if it is not registered.
 *
 * @param options its properties; `data` of [L, S], [heads, L, S] or [layers, heads, L, S]
 * @throws ReferenceError where there is no document, as in Node
 * @example
 * ```ts
 * const show = () => document.body.append(lines({ data: [[1, 0], [0.25, 0.75]], tokens: ["I", "see"] }));
 * console.log(typeof globalThis.document === "undefined" ? "no page here" : show()); // prints: no page here
 * ```
 */
export function lines(options: Partial<HeedLines> = {}): HeedLines {
  return make(HeedLines, options);
}

declare global {
  interface HTMLElementTagNameMap {
    "heed-lines": HeedLines;
  }
}
