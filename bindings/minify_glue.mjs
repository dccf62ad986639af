// Minifies the glue that the linker wrote, dist/heed-<variant>.mjs. Called by bindings/wasm.cmake with the file's name.

import { readFileSync, writeFileSync } from "node:fs";
import { minifySync } from "vite";

const [file] = process.argv.slice(2);
const { code, errors } = minifySync(file, readFileSync(file, "utf8"), { module: true });
if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
writeFileSync(file, code);
