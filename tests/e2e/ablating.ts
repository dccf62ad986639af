/** Records the texts that the page shows while it computes new numbers. */
import type { Room } from "./room";

interface TextChange {
  /** The element to click. */
  readonly click: string;
  /** The element whose text describes the numbers. */
  readonly words: string;
  /** The elements that have the numbers as data attributes. */
  readonly numbers: string;
}

/** Clicks. Returns the different texts shown with the former numbers, and the text shown with the new ones. */
export function sayings(
  { page }: Room,
  change: TextChange,
): Promise<{ former: string[]; now: string }> {
  return page.evaluate(async ({ click, words, numbers }) => {
    const shown = () =>
      JSON.stringify(
        [...document.querySelectorAll<HTMLElement>(numbers)].map(({ dataset }) => ({ ...dataset })),
      );
    const said = () => document.querySelector(words)?.textContent ?? "nothing";
    const begin = shown();
    const former = new Set<string>();
    const look = () => {
      if (shown() === begin) former.add(said());
    };
    look();
    const observer = new MutationObserver(look);
    observer.observe(document.body, {
      ...{ subtree: true, childList: true, characterData: true, attributes: true },
    });
    document.querySelector<HTMLElement>(click)?.click();
    while (shown() === begin) await new Promise(requestAnimationFrame);
    observer.disconnect();
    return { former: [...former], now: said() };
  }, change);
}
