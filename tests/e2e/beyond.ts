/** Drives the room "Beyond words", and computes its picture with the engine, without a page. */
import type { Heed } from "heed";
import { house } from "../../web/src/rooms/beyond/picture/drawing";
import { initialState } from "../../web/src/rooms/beyond/state";
import { Room } from "./room";

export class Beyond extends Room {
  /** The named numbers of the page. */
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

  /** A column of the table, by its internal name. */
  column(name: string): Promise<number[]> {
    return this.page.$$eval(`.row-table tbody [data-column=${name}]`, (cells) =>
      cells.map(({ textContent }) => Number((textContent ?? "").replace(/−/g, "-"))),
    );
  }

  /** The row headings of the table: the numbers of its keys. */
  keys(): Promise<number[]> {
    return this.page.$$eval(".row-table tbody th", (cells) =>
      cells.map(({ textContent }) => Number(textContent)),
    );
  }

  /** The text of an SVG, which has no innerText. */
  drawnWords(selector: string): Promise<string> {
    return this.page.$eval(selector, ({ textContent }) => textContent ?? "");
  }

  psnr(version: string): Promise<number> {
    return this.page.$eval(`[data-psnr=${version}]`, ({ textContent }) =>
      Number.parseFloat((textContent ?? "").replace("PSNR ", "")),
    );
  }

  /** Sets a slider to a value and fires the events of dragging. */
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

  /** Focuses an element, including SVG elements, which puppeteer's own method does not support. */
  async focus(selector: string): Promise<void> {
    await this.page.$eval(selector, (element) => (element as HTMLElement | SVGElement).focus());
  }

  /** The centre on the screen of the first element that matches. */
  async middleOf(selector: string): Promise<{ x: number; y: number }> {
    return this.page.$eval(selector, (element) => {
      element.scrollIntoView({ block: "center" });
      const box = element.getBoundingClientRect();
      return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    });
  }

  /** Drags from the centre of an element by a number of pixels. */
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

/** The built-in drawing with noise, and the engine's result for it. */
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
