/**
 * The heads of a model as small pictures in rows: one row for each layer, or rows of sorted heads.
 * A row of a large grid is drawn when it becomes visible, and each frame draws one row. One of the
 * buttons has the focus, and the arrow keys, Home and End move the focus.
 */

import type { Ink } from "../picture/ink.js";
import { px } from "../picture/layout.js";
import { hasCanvas, nextFrame, windowOf } from "../picture/page.js";
import { html } from "./html.js";
import { Thumbnail, type ThumbnailPicture } from "./thumbnail.js";

/** A head, as its index in the list of all heads. */
export type HeadIndex = number;

export interface GridRow {
  readonly heads: readonly HeadIndex[];
  /** Empty for a row that has no name. */
  readonly title: string;
}

export type GridHead = Omit<ThumbnailPicture, "side" | "isSelected">;

interface GridPicture {
  /** From top to bottom. */
  readonly rows: readonly GridRow[];
  /** The side of a small picture, in pixels. */
  readonly side: number;
  /** For how many lines of pictures each row reserves space, so that nothing moves when it is filled. */
  readonly lines: number;
  /** -1 if there is none. */
  readonly selected: HeadIndex;
  /** Returns the picture of a head. May also mark its item in the list. */
  picture(index: HeadIndex, item: HTMLElement): GridHead;
  /** Whether one frame draws all rows, as for print. */
  readonly isWhole: boolean;
  readonly ink: Ink;
  readonly ratio: number;
}

/** The space around a small picture, in pixels; the style sheet uses the same value. */
export const around = 10;

/** Up to this many heads are all drawn, visible or not. */
const fewHeads = 64;

interface Row {
  readonly element: HTMLElement;
  readonly list: HTMLElement;
  readonly heads: readonly HeadIndex[];
  isSeen: boolean;
}

export class HeadGrid {
  readonly element = html("div", "layers");
  readonly #select: (index: HeadIndex) => void;
  readonly #seen: () => void;
  #rows: readonly Row[] = [];
  /** The heads of all rows. */
  #heads: readonly HeadIndex[] = [];
  readonly #thumbnails = new Map<HeadIndex, Thumbnail>();
  #observer: IntersectionObserver | null = null;
  #drawn: GridPicture | null = null;
  /** The rows to draw in the next frames. A row that waits keeps its place, however often all are drawn again. */
  readonly #waiting = new Set<Row>();
  #cancel = () => {};
  /** The head whose button the Tab key reaches. */
  #focus: HeadIndex = 0;

  /**
   * @param select called with the head that a person chooses
   * @param seen called when the visible heads change
   */
  constructor(select: (index: HeadIndex) => void, seen: () => void) {
    this.#select = select;
    this.#seen = seen;
    this.element.setAttribute("role", "group");
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Observes which rows are visible until the signal is aborted. */
  connect(signal: AbortSignal): void {
    signal.addEventListener("abort", () => {
      this.#cancel();
      this.#observer?.disconnect();
      this.#observer = null;
    });
    const { IntersectionObserver: Observer } = windowOf(this.element);
    if (Observer === undefined) return;
    this.#observer = new Observer((entries) => {
      for (const { target, isIntersecting } of entries) {
        const row = this.#rows.find(({ element }) => element === target);
        if (row) row.isSeen = isIntersecting;
      }
      if (this.#drawn) this.draw(this.#drawn);
      this.#seen();
    });
    this.#observe();
  }

  /** The visible heads, from the top; all heads of a small grid. */
  get seen(): readonly HeadIndex[] {
    return this.#rows.flatMap(({ isSeen, heads }) => (isSeen ? heads : []));
  }

  draw(picture: GridPicture): void {
    const { rows, selected, side, lines, isWhole } = picture;
    const before = this.#drawn;
    this.#drawn = picture;
    if (before?.rows !== rows) this.#arrange(rows);
    this.element.style.cssText = `--side:${px(side)};--lines:${lines}`;
    if (before?.selected !== selected) {
      // The focus may have moved since the head was chosen.
      if (!this.element.querySelector(":focus")) this.#rove(selected);
      for (const { selected } of [before ?? picture, picture]) this.update(selected);
    }
    const heads = this.#heads;
    if (!heads.includes(this.#focus))
      this.#rove(heads.includes(selected) ? selected : (heads[0] ?? 0));
    // The Tab key has to reach its head, visible or not.
    for (const row of this.#rows)
      if (isWhole || row.isSeen || row.heads.includes(this.#focus)) this.#waiting.add(row);
    this.#fillNext();
  }

  /** Redraws one head, if it is in the grid. */
  update(index: HeadIndex): void {
    const [picture, thumbnail] = [this.#drawn, this.#thumbnails.get(index)];
    if (!picture || !thumbnail) return;
    const { side, selected, ink, ratio } = picture;
    const shown = picture.picture(index, thumbnail.item);
    thumbnail.draw({ ...shown, side, isSelected: index === selected }, { ink, ratio });
  }

  /** Removes all heads, because they belong to other data. */
  clear(): void {
    this.#arrange([]);
    this.#drawn = null;
  }

  #arrange(rows: readonly GridRow[]): void {
    const focused = this.element.querySelector<HTMLElement>(":focus");
    this.#heads = rows.flatMap(({ heads }) => heads);
    for (const index of this.#thumbnails.keys())
      if (!this.#heads.includes(index)) this.#thumbnails.delete(index);
    this.#rows = rows.map(({ heads, title }) => {
      const list = html("ul");
      list.append(...heads.flatMap((index) => this.#thumbnails.get(index)?.item ?? []));
      const element = html("div", "layer", ...(title ? [html("h4", "", title)] : []), list);
      return { element, list, heads, isSeen: this.#isSmall };
    });
    this.#waiting.clear();
    this.element.replaceChildren(...this.#rows.map(({ element }) => element));
    focused?.focus({ preventScroll: true });
    this.#observer?.disconnect();
    this.#observe();
  }

  get #isSmall(): boolean {
    return this.#heads.length <= fewHeads || !hasCanvas();
  }

  #observe(): void {
    if (!this.#isSmall) for (const { element } of this.#rows) this.#observer?.observe(element);
  }

  /** Draws one of the rows that wait, and the others in the next frames. */
  #fillNext(): void {
    this.#cancel();
    for (const row of this.#waiting) {
      this.#waiting.delete(row);
      this.#fill(row);
      if (!this.#drawn?.isWhole && hasCanvas()) break;
    }
    if (this.#waiting.size > 0)
      this.#cancel = nextFrame(windowOf(this.element), () => this.#fillNext());
  }

  #fill({ heads, list }: Row): void {
    const isFilled = list.childElementCount === heads.length;
    for (const index of heads) {
      let thumbnail = this.#thumbnails.get(index);
      if (!thumbnail) {
        thumbnail = new Thumbnail(() => this.#select(index));
        thumbnail.item.dataset.index = `${index}`;
        thumbnail.button.tabIndex = index === this.#focus ? 0 : -1;
        thumbnail.button.addEventListener("focus", () => this.#rove(index));
        this.#thumbnails.set(index, thumbnail);
      }
      if (!isFilled) list.append(thumbnail.item);
      this.update(index);
    }
  }

  /** Makes a head the one that the Tab key reaches. */
  #rove(index: HeadIndex): void {
    this.#focus = index;
    for (const [each, { button }] of this.#thumbnails) button.tabIndex = each === index ? 0 : -1;
  }

  /** Moves the focus, as the pictures are on the page. */
  #key(event: KeyboardEvent): void {
    const { key, ctrlKey, target } = event;
    if (!/^(Arrow|Home|End)/.test(key)) return;
    const row = this.#rows.findIndex(({ list }) => list.contains(target as Node));
    // Rows that were never visible have no pictures yet. Two rows may be side by side.
    for (const [i, each] of this.#rows.entries())
      if (ctrlKey || Math.abs(i - row) <= 2) this.#fill(each);
    const own = (target as Element).getBoundingClientRect();
    const all = Array.from(this.element.querySelectorAll("button"), (button) => {
      const { left, top } = button.getBoundingClientRect();
      return { button, x: Math.abs(left - own.left), y: top - own.top };
    });
    const place = all.findIndex(({ button }) => button === target);
    const line = ctrlKey ? all : all.filter(({ y }) => Math.abs(y) <= 1);
    const upOrDown = (sign: number) =>
      all.filter(({ y }) => sign * y > 1).sort((a, b) => 10 * sign * (a.y - b.y) + a.x - b.x)[0];
    const moves: Record<string, (typeof all)[number] | undefined> = {
      ArrowLeft: all[place - 1],
      ArrowRight: all[place + 1],
      ArrowUp: upOrDown(-1),
      ArrowDown: upOrDown(1),
      Home: line[0],
      End: line.at(-1),
    };
    const button = moves[key]?.button;
    if (!button) return;
    event.preventDefault();
    event.stopPropagation();
    button.focus();
  }
}
