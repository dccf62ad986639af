/** Drives the room "Step by step". */
import { expect } from "vitest";
import { Room } from "./room";

/** The table of the selected query: one entry per key, and the row of sums. */
export interface Table {
  readonly keys: string[];
  readonly score: number[];
  readonly scaled: number[];
  readonly masked: number[];
  readonly weight: number[];
  readonly value: number[][];
  readonly contribution: number[][];
  readonly total: number;
  readonly output: number[];
  readonly foot: string;
}

export class Steps extends Room {
  async table(): Promise<Table> {
    const { keys, columns, value, contribution, total, output, foot } = await this.page.evaluate(
      () => {
        const textsOf = (cell: Element | null | undefined) =>
          [...(cell?.querySelectorAll(".vector span:not(.faint)") ?? [])].map(
            ({ textContent }) => textContent ?? "",
          );
        const rows = [...document.querySelectorAll(".row-table tbody tr")];
        const column = (name: string) =>
          rows.map((row) => row.querySelector(`[data-column=${name}]`));
        const foot = document.querySelector(".row-table tfoot");
        return {
          keys: rows.map((row) => row.querySelector("th")?.textContent ?? ""),
          columns: ["score", "scaled", "masked", "weight"].map((name) =>
            column(name).map((cell) => cell?.textContent ?? ""),
          ),
          value: column("value").map(textsOf),
          contribution: column("contribution").map(textsOf),
          total: foot?.querySelector("[data-column=weight]")?.textContent ?? "",
          output: textsOf(foot?.querySelector("[data-column=output]")),
          foot: foot?.querySelector("th")?.textContent ?? "",
        };
      },
    );
    // Converts numbers in the page, because JSON cannot represent infinity.
    const numberIn = (text: string) => Number(text.replace("−", "-").replace("∞", "Infinity"));
    const [score, scaled, masked, weight] = columns.map((texts) => texts.map(numberIn)) as [
      number[],
      number[],
      number[],
      number[],
    ];
    return {
      keys,
      score,
      scaled,
      masked,
      weight,
      value: value.map((texts) => texts.map(numberIn)),
      contribution: contribution.map((texts) => texts.map(numberIn)),
      total: numberIn(total),
      output: output.map(numberIn),
      foot,
    };
  }

  /** Waits until the table equals `expected` in every part that `expected` contains. */
  async untilTable(expected: Partial<Table>): Promise<Table> {
    await expect.poll(() => this.table()).toMatchObject(expected);
    return this.table();
  }
}
