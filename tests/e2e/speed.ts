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

  /** Redirects the clipboard and saved files to the page's data, where `taken` reads them. */
  async catchWhatIsTaken(): Promise<void> {
    await this.page.evaluate(() => {
      const keep = (text: string) => {
        document.body.dataset.taken = text;
      };
      navigator.clipboard.writeText = async (text) => keep(text);
      URL.createObjectURL = (blob) => {
        void (blob as Blob).text().then(keep);
        return "";
      };
      HTMLAnchorElement.prototype.click = () => {};
    });
  }

  /** Clicks, and returns the text that was copied or saved. */
  async taken(words: string, scope: string, start: string): Promise<string> {
    await this.click(words, scope);
    const begins = (start: string) => document.body.dataset.taken?.startsWith(start);
    await this.page.waitForFunction(begins, {}, start);
    return this.page.$eval("body", ({ dataset }) => dataset.taken ?? "");
  }
}
