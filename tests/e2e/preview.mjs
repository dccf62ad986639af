/**
 * Makes the picture that messengers show with a link to the page: a map that the built page computes and saves.
 *
 *   npm run build:web && node tests/e2e/preview.mjs
 *
 * The file is web/public/preview.png. Its size is 1200 × 630 pixels, as in the page's head (web/index.html).
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";
import { chromium } from "../harness/program.mjs";

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));

const style = `
  body { margin: 0; width: 1200px; height: 630px; display: grid; align-content: center; justify-items: center;
    gap: 28px; font-family: system-ui, sans-serif; color: #1f2124; background: #fff; }
  h1 { margin: 0; font-size: 64px; font-weight: 600; letter-spacing: -0.01em; }
  p { margin: 0; font-size: 28px; color: #5f6268; }
  svg { width: 1080px; height: 380px; }`;

/** The map of the dates, saved by the page, without its caption and margins. */
async function mapOf(page) {
  await page.waitForSelector("[data-footnote]");
  const svg = await page.evaluate(async () => {
    const saved = new Promise((resolve) => {
      const make = URL.createObjectURL;
      URL.createObjectURL = (blob) => {
        resolve(blob.text());
        return make.call(URL, blob);
      };
    });
    const menu = document.querySelector("[data-matrix=bahdanau] .save");
    menu.open = true;
    [...menu.querySelectorAll("button")].find((button) => button.textContent === "SVG").click();
    return saved;
  });
  return svg;
}

const server = spawn(process.execPath, [pathOf("../../web/serve.mjs"), "--port", "4300"], {
  stdio: ["ignore", "pipe", "inherit"],
});
const said = await new Promise((resolve) => server.stdout.once("data", resolve));
const browser = await puppeteer.launch({
  executablePath: chromium(),
  args: ["--no-sandbox"],
});
try {
  const page = await browser.newPage();
  await page.setViewport({ width: 1200, height: 630 });
  await page.goto(`${/http:\S+/.exec(String(said))[0]}#room=recurrent`);
  const svg = await mapOf(page);
  await page.goto("about:blank");
  await page.setContent(
    `<style>${style}</style><h1>See attention compute</h1>${svg}<p>Heed Playground: every number, in your browser</p>`,
  );
  // The labels, cells and legend, but not the caption above them.
  await page.evaluate(() => {
    const svg = document.querySelector("svg");
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const captions = [...svg.querySelectorAll("text[font-weight='600']")];
    const top = Math.max(...captions.map((text) => Number(text.getAttribute("y")))) + 8;
    for (const text of captions) text.remove();
    svg.setAttribute("viewBox", `0 ${top} ${width} ${height - top}`);
  });
  await page.screenshot({ path: pathOf("../../web/public/preview.png") });
} finally {
  await browser.close();
  server.kill();
}
