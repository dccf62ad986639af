// Starts the system's Chromium.

import { chromium } from "playwright";
import { programOf } from "./program.mjs";

/** @param {string[]} flags further ones, of this launch */
export function launchChromium(...flags) {
  return chromium.launch({
    executablePath: programOf("HEED_CHROMIUM", "chromium"),
    // Chromium's sandbox does not run as root; the other flags disable background work.
    args: ["--no-sandbox", "--disable-gpu", "--disable-component-update", ...flags],
  });
}
