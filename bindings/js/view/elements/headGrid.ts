/**
 * The heads of a model as small pictures in rows, each drawn when it becomes visible: one row for
 * each layer, or rows of sorted heads. One of the buttons has the focus, and the arrow keys move
 * the focus.
 */

import { html } from "../parts/html.js";
import { Thumbnail, type ThumbnailPicture } from "../parts/thumbnail.js";
import type { Ink } from "../picture/ink.js";
import { px } from "../picture/layout.js";
import { hasCanvas, windowOf } from "../picture/page.js";

/** A head, as its index in layers × heads. */
export type HeadIndex = number;

interface GridPicture {
  /** The rows of heads, from top to bottom, and their titles. */
  readonly rows: readonly (readonly HeadIndex[])[];
  readonly titles: readonly string[];
  /** The side of a small picture, in pixels. */
  readonly side: number;
  /** The number of pictures in a line; a longer row has several lines. */
  readonly perLine: number;
  readonly selected: HeadIndex;
  picture(index: HeadIndex): Omit<ThumbnailPicture, "side" | "isSelected">;
  readonly ink: Ink;
  readonly ratio: number;
}

/** The space around and below a small picture, in pixels; the style sheet uses the same value. */
export const around = 10;
const below = 18;

/** The height of a row before it is filled, in pixels, so that nothing moves when it is filled. */
function heightOf({ side, perLine }: GridPicture, count: number): number {
  return Math.ceil(count / perLine) * (side + around + below);
}

/** Up to this many heads are all drawn immediately. */
const fewHeads = 64;

interface Row {
  readonly element: HTMLElement;
  readonly title: HTMLElement;
  readonly list: HTMLElement;
  heads: readonly HeadIndex[];
  isSeen: boolean;
}

export class HeadGrid {
  readonly element = html("div");
  readonly #select: (index: HeadIndex) => void;
  readonly #seen: () => void;
  #rows: Row[] = [];
  #thumbnails = new Map<HeadIndex, Thumbnail>();
  #items = new Map<HeadIndex, HTMLElement>();
  #observer: IntersectionObserver | null = null;
  #drawn: GridPicture | null = null;
  /** Whether all rows are filled before it is known which ones are visible. */
  #isSmall = false;
  /** The head whose button the Tab key reaches. */
  #focus: HeadIndex = 0;

  /**
   * @param select called with the head that a person chooses
   * @param seen called when the visible heads change
   */
  constructor(select: (index: HeadIndex) => void, seen: () => void) {
    this.#select = select;
    this.#seen = seen;
    this.element.className = "layers";
    this.element.setAttribute("role", "group");
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("focusin", ({ target }) => {
      const index = (target as Element).closest<HTMLElement>("[data-index]")?.dataset.index;
      if (index !== undefined) this.#rove(Number(index));
    });
  }

  /** Observes which rows are visible until the signal is aborted. */
  connect(signal: AbortSignal): void {
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
    for (const { element } of this.#rows) this.#observer.observe(element);
    signal.addEventListener("abort", () => {
      this.#observer?.disconnect();
      this.#observer = null;
    });
  }

  /** The visible heads, from the top. */
  get seen(): readonly HeadIndex[] {
    return this.#rows.flatMap(({ isSeen, heads }) => (isSeen ? heads : []));
  }

  draw(picture: GridPicture): void {
    const before = this.#drawn;
    this.#drawn = picture;
    if (before?.rows !== picture.rows) this.#arrange(picture);
    // The focus may have moved since the head was chosen.
    const isElsewhere = this.element.querySelector(":focus") === null;
    if (before?.selected !== picture.selected && isElsewhere) this.#rove(picture.selected);
    this.element.style.setProperty("--side", px(picture.side));
    for (const row of this.#rows) {
      row.element.style.minHeight = px(heightOf(picture, row.heads.length));
      if (row.isSeen) this.#fill(row);
    }
  }

  /** Redraws one head, if it is in the grid. */
  update(index: HeadIndex): void {
    const [picture, thumbnail] = [this.#drawn, this.#thumbnails.get(index)];
    if (!picture || !thumbnail) return;
    const { side, selected, ink, ratio } = picture;
    const shown = { ...picture.picture(index), side, isSelected: index === selected };
    thumbnail.draw(shown, { ink, ratio });
  }

  /** Removes all heads, because they belong to other data. */
  clear(): void {
    for (const { element } of this.#rows) this.#observer?.unobserve(element);
    this.#rows = [];
    this.#thumbnails.clear();
    this.#items.clear();
    this.#drawn = null;
    this.element.replaceChildren();
  }

  #arrange({ rows, titles }: GridPicture): void {
    this.#isSmall = rows.flat().length <= fewHeads || !hasCanvas();
    while (this.#rows.length > rows.length) {
      const row = this.#rows.pop() as Row;
      this.#observer?.unobserve(row.element);
      row.element.remove();
    }
    while (this.#rows.length < rows.length) this.#rows.push(this.#addRow());
    for (const [i, row] of this.#rows.entries()) {
      row.heads = rows[i] as readonly HeadIndex[];
      row.title.textContent = titles[i] ?? "";
      row.title.hidden = !titles[i];
      const items = row.heads.map((index) => this.#items.get(index));
      row.list.replaceChildren(...items.filter((item) => item !== undefined));
    }
  }

  #addRow(): Row {
    const title = html("h4");
    const list = html("ul");
    const element = html("div", "layer", title, list);
    this.element.append(element);
    this.#observer?.observe(element);
    return { element, title, list, heads: [], isSeen: this.#isSmall };
  }

  #fill(row: Row): void {
    for (const index of row.heads) {
      if (!this.#thumbnails.has(index)) this.#add(index);
      const item = this.#items.get(index) as HTMLElement;
      if (item.parentElement !== row.list) row.list.append(item);
      this.update(index);
    }
  }

  #add(index: HeadIndex): void {
    const thumbnail = new Thumbnail(() => this.#select(index));
    const item = html("li", "thumbnail");
    item.dataset.index = `${index}`;
    thumbnail.button.tabIndex = index === this.#focus ? 0 : -1;
    item.append(thumbnail.button);
    this.#thumbnails.set(index, thumbnail);
    this.#items.set(index, item);
  }

  /** Makes a head the one that the Tab key reaches. */
  #rove(index: HeadIndex): void {
    const [before, now] = [this.#focus, index].map((each) => this.#thumbnails.get(each));
    if (before) before.button.tabIndex = -1;
    if (now) now.button.tabIndex = 0;
    this.#focus = index;
  }

  #key(event: KeyboardEvent): void {
    const index = this.#moved(event);
    if (index === null) return;
    event.preventDefault();
    event.stopPropagation();
    const row = this.#rows.find(({ heads }) => heads.includes(index));
    if (row) this.#fill(row);
    this.#rove(index);
    this.#thumbnails.get(index)?.button.focus();
  }

  /** The head to which a key moves; null for any other key. */
  #moved({ key, ctrlKey }: KeyboardEvent): HeadIndex | null {
    const all = this.#rows.flatMap(({ heads }) => heads);
    const perLine = this.#drawn?.perLine ?? 1;
    const lines = this.#rows.flatMap(({ heads }) =>
      Array.from({ length: Math.ceil(heads.length / perLine) }, (_, line) =>
        heads.slice(line * perLine, (line + 1) * perLine),
      ),
    );
    const line = lines.findIndex((heads) => heads.includes(this.#focus));
    const own = lines[line];
    if (!own) return all[0] ?? null;
    const place = all.indexOf(this.#focus);
    const col = own.indexOf(this.#focus);
    const upOrDown = (step: number) => {
      const next = lines[Math.max(0, Math.min(lines.length - 1, line + step))] ?? own;
      return next[Math.min(col, next.length - 1)];
    };
    const moves: Record<string, () => HeadIndex | undefined> = {
      ArrowLeft: () => all[Math.max(0, place - 1)],
      ArrowRight: () => all[Math.min(all.length - 1, place + 1)],
      ArrowUp: () => upOrDown(-1),
      ArrowDown: () => upOrDown(1),
      Home: () => (ctrlKey ? all[0] : own[0]),
      End: () => (ctrlKey ? all.at(-1) : own.at(-1)),
    };
    return moves[key]?.() ?? null;
  }
}
