// Starts the system's Firefox, which playwright cannot drive.

import puppeteer from "puppeteer-core";
import { programOf } from "./program.mjs";

export function launchFirefox() {
  return puppeteer.launch({
    browser: "firefox",
    executablePath: programOf("HEED_FIREFOX", "firefox-esr", "firefox"),
    headless: true,
    protocolTimeout: 0, // an answer may take minutes
  });
}
