/** The room "Beyond words" as a person meets it, and its picture from the engine without a page. */
import type { Heed } from "heed";
import { house } from "../../web/src/rooms/beyond/picture/drawing";
import { initialState } from "../../web/src/rooms/beyond/state";
import { Room } from "./room";

export class Beyond extends Room {
  /** Numbers by their names. */
  figures(): Promise<Record<string, string>> {
    return this.page.$$eval(".figures > div", (figures) =>
      Object.fromEntries(
        figures.map((figure) => [
          figure.querySelector("dt")?.textContent ?? "",
          figure.querySelector("dd")?.textContent ?? "",
        ]),
      ),
    );
  }

  async figure(name: string): Promise<number> {
    const text = (await this.figures())[name] ?? "";
    return text === "" ? Number.NaN : Number.parseFloat(text.replace("−", "-"));
  }

  /** A column of the table, by its name in the page. */
  column(name: string): Promise<number[]> {
    return this.page.$$eval(`.row-table tbody [data-column=${name}]`, (cells) =>
      cells.map(({ textContent }) => Number((textContent ?? "").replace(/−/g, "-"))),
    );
  }

  /** The row's headings: which keys the table has. */
  keys(): Promise<number[]> {
    return this.page.$$eval(".row-table tbody th", (cells) =>
      cells.map(({ textContent }) => Number(textContent)),
    );
  }

  /** The words of what is drawn, which has no innerText. */
  drawnWords(selector: string): Promise<string> {
    return this.page.$eval(selector, ({ textContent }) => textContent ?? "");
  }

  psnr(version: string): Promise<number> {
    return this.page.$eval(`[data-psnr=${version}]`, ({ textContent }) =>
      Number.parseFloat((textContent ?? "").replace("PSNR ", "")),
    );
  }

  /** Puts a slider to a value, as dragging it does. */
  async slide(label: string, value: number): Promise<void> {
    await this.page.evaluate(
      (label, value) => {
        const field = [...document.querySelectorAll(".slider")].find((slider) =>
          slider.querySelector("label")?.textContent?.startsWith(label),
        );
        const input = field?.querySelector("input");
        if (!input) throw new Error(`there is no slider ${label}`);
        input.value = String(value);
        input.dispatchEvent(new Event("input", { bubbles: true }));
      },
      label,
      value,
    );
  }

  /** Focuses also what is drawn, which puppeteer's own way does not. */
  async focus(selector: string): Promise<void> {
    await this.page.$eval(selector, (element) => (element as HTMLElement | SVGElement).focus());
  }

  /** The middle of the first element that fits, on the screen. */
  async middleOf(selector: string): Promise<{ x: number; y: number }> {
    return this.page.$eval(selector, (element) => {
      element.scrollIntoView({ block: "center" });
      const box = element.getBoundingClientRect();
      return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    });
  }

  /** Drags from the middle of an element by some pixels. */
  async drag(selector: string, right: number, down: number): Promise<void> {
    const { x, y } = await this.middleOf(selector);
    const { mouse } = this.page;
    await mouse.move(x, y);
    await mouse.down();
    await mouse.move(x + right / 2, y + down / 2);
    await mouse.move(x + right, y + down);
    await mouse.up();
  }
}

/** Our drawing with its noise, and what the engine makes of it. */
export function denoised(heed: Heed, { noise, grain, patch, window, h } = initialState) {
  return heed.scope(() => {
    const { pixels, width, height } = house();
    const noisy = heed.normal([height, width], { seed: grain, deviation: noise });
    const image = heed.add(heed.tensor(pixels, [height, width]), noisy);
    const options = { patchRadius: patch, searchRadius: window, h, sigma: noise };
    const values = {
      noisy: image.data.slice(),
      local: heed.localMean(image, patch).data.slice(),
      nonLocal: heed.nonLocalMeans(image, options).output.data.slice(),
    };
    return { pixels, width, values };
  });
}
