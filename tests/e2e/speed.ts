/** Drives the room "Speed". */
import { workersOf } from "./browsers";
import { Room } from "./room";

/** One line of the table. Numbers are as shown; empty cells are null. */
export interface Line {
  readonly case: string;
  readonly operations: number;
  readonly contender: string;
  readonly cells: Readonly<Record<string, string>>;
}

export class Speed extends Room {
  lines(): Promise<Line[]> {
    return this.page.$$eval(".figures tbody[data-case]", (bodies) =>
      bodies.flatMap((body) => {
        const { case: name = "", operations } = (body as HTMLElement).dataset;
        return [...body.querySelectorAll("tr")].map((row) => ({
          case: name,
          operations: Number(operations),
          contender: row.dataset.contender ?? "",
          cells: Object.fromEntries(
            [...row.querySelectorAll<HTMLElement>("td")].map((cell) => [
              cell.dataset.column ?? "",
              cell.textContent ?? "",
            ]),
          ),
        }));
      }),
    );
  }

  /** Waits until no measurement is running. */
  async rested(timeout = 30_000): Promise<this> {
    await this.page.waitForSelector("main:not(:has(progress)) .figures tbody", { timeout });
    return this;
  }

  /** The number of threads of a run. The page's own engine has none of them. */
  async runWorkers(): Promise<number> {
    return (await workersOf(this.page)).filter((url) => /crew|simd/.test(url)).length;
  }
}
