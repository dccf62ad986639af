// Vite 5 to 8: builds and development servers.

import { afterAll } from "vitest";
import { closeBrowser, isolation } from "../places.js";
import { type Tool, testTools, tool } from "./tools.js";

afterAll(closeBrowser);

const versions = ["vite-5", "vite-6", "vite-7", "vite"];

testTools(
  versions.flatMap((name): Tool[] => {
    const vite = tool(`${name}/bin/vite.js`);
    return [
      {
        place: "Vite 5 to 8, build and development server",
        name,
        files: {},
        build: [vite, "build"],
        serve: "dist",
      },
      {
        place: "Vite 5 to 8, build and development server",
        name: `${name}-dev`,
        files: {
          "vite.config.js": `export default { server: { headers: ${JSON.stringify(isolation)} } };`,
        },
        serve: (port) => [vite, "--host", "127.0.0.1", "--strictPort", "--port", port],
      },
    ];
  }),
);
