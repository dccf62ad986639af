/** Ends the browsers that test files share: Vitest may kill a process before it can end its own (see browsers.ts). */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "heed-browsers-"));
  process.env.HEED_BROWSERS = folder;
  return async () => {
    for (const pid of readdirSync(folder)) {
      const profile = readFileSync(join(folder, pid), "utf8");
      try {
        // Its process group, because Debian's program is a script that starts the browser.
        for (process.kill(-Number(pid)); ; process.kill(-Number(pid), 0))
          await new Promise((resolve) => setTimeout(resolve, 50));
      } catch {
        // It has ended.
      }
      if (profile) rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
    }
    rmSync(folder, { recursive: true });
  };
}
