// Starts the system's Chromium.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright";

function chromiumProgram() {
  if (process.env.HEED_CHROMIUM) return process.env.HEED_CHROMIUM;
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const program = join(folder, "chromium");
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not in this folder.
    }
  }
  throw new Error("chromium: expected on the PATH, or its path in HEED_CHROMIUM");
}

export function launchChromium() {
  return chromium.launch({
    executablePath: chromiumProgram(),
    // Chromium's own sandbox does not run as root; the rest keeps its background work away.
    args: ["--no-sandbox", "--disable-gpu", "--disable-component-update"],
  });
}
