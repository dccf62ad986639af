// Starts the system's Chromium.

import * as playwright from "playwright";
import { chromium } from "./program.mjs";

/** @param {string[]} flags further ones, of this launch */
export function launchChromium(...flags) {
  return playwright.chromium.launch({
    executablePath: chromium(),
    // Chromium's sandbox does not run as root; the other flags disable background work.
    args: ["--no-sandbox", "--disable-gpu", "--disable-component-update", ...flags],
  });
}
