/** What is said of numbers while others are computed. */
import type { Room } from "./room";

interface Saying {
  /** What is clicked. */
  readonly click: string;
  /** The element with words about the numbers. */
  readonly words: string;
  /** The elements that have the numbers as data. */
  readonly numbers: string;
}

/** Clicks, and tells what was said of the former numbers, each of it once, and what is said of the new ones. */
export function sayings(
  { page }: Room,
  saying: Saying,
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
  }, saying);
}
