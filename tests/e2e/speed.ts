/** The room "Speed" as a person meets it. */
import { Room } from "./room";

/** One line of the table; numbers as they are shown, null where nothing is. */
export interface Line {
  readonly case: string;
  readonly operations: number;
  readonly contender: string;
  readonly cells: Readonly<Record<string, string>>;
}

export class Speed extends Room {
  lines(): Promise<Line[]> {
    return this.page.$$eval(".figures tbody", (bodies) =>
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

  /** Waits until nothing is under way. */
  async rested(timeout = 30_000): Promise<this> {
    await this.page.waitForSelector("main:not(:has(progress)) .figures tbody", { timeout });
    return this;
  }
}
