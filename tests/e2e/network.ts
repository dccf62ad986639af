/** Reads the picture of a whole network in any room. */
import type { Room } from "./room";

/** A row of a table of layers; `scope` selects one of several tables. */
const rowOf = (row: number, scope: string) => `${scope} .stack-table [data-row="${row}"]`;

/** The exact lengths in a row. */
export function lengthsIn({ page }: Room, row: number, scope = ""): Promise<number[]> {
  return page.$$eval(`${rowOf(row, scope)} [data-length]`, (all) =>
    all.map((each) => Number((each as HTMLElement).dataset.length)),
  );
}

/** The most likely tokens of a row, and the probability of the token that is the most likely one at the end. */
export function readingIn(
  { page }: Room,
  row: number,
  scope = "",
): Promise<{ ids: number[]; winner: number }> {
  return page.$eval(rowOf(row, scope), (row) => ({
    ids: [...row.querySelectorAll<HTMLElement>("[data-said]")].map(({ dataset }) =>
      Number(dataset.said),
    ),
    winner: Number(row.querySelector<HTMLElement>("[data-winner]")?.dataset.winner),
  }));
}

/** The names of the rows that are open. */
export function openRows({ page }: Room): Promise<string[]> {
  return page.$$eval(".stack-table [aria-expanded=true]", (all) =>
    all.map(({ textContent }) => textContent ?? ""),
  );
}

/** A number of the visible formula. */
export function explained({ page }: Room, number: RegExp): Promise<number> {
  return page.$eval(
    ".network-readout .readout-formula",
    ({ textContent }, [source]) =>
      Number(new RegExp(source as string).exec(textContent ?? "")?.[1]?.replace("−", "-")),
    [number.source],
  );
}
