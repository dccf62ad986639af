// Finishes the glue that the linker wrote, dist/heed-<variant>.mjs: makes the changes below, each of which
// must apply, and minifies the result. Called by bindings/wasm.cmake with the file's name.

import { readFileSync, writeFileSync } from "node:fs";
import { minifySync } from "vite";

/** The changes, and the reason for each. */
const changes = [
  {
    why: "bindings/js/load/threads.ts starts the workers: it handles their failures, and knows where they come from",
    from: /allocateUnusedWorker\(\)\{.*?PThread\.unusedWorkers\.push\(worker\)\},getNewWorker\(\)\{.*?return PThread\.unusedWorkers\.pop\(\)\}/,
    to: "getNewWorker(){return PThread.unusedWorkers.pop()}",
  },
  {
    why: "the worker class of Node is needed by bindings/js/load/threads.ts only, so nothing global has to change",
    from: /global\.Worker=worker_threads\.Worker;/,
    to: "",
  },
  {
    // The promise of Atomics.waitAsync keeps the module and all its memory alive while the main thread
    // waits for messages of its threads, that is, for ever. Without it they arrive through postMessage.
    why: "an engine that was disposed of is collected",
    from: /if\(typeof Atomics\.waitAsync===?"function"\)/,
    to: 'if(ENVIRONMENT_IS_PTHREAD&&typeof Atomics.waitAsync==="function")',
  },
  {
    why: "Deno asks for a permission to tell the number of cores; bindings/js/load/features.ts knows it",
    from: /_emscripten_num_logical_cores=\(\)=>ENVIRONMENT_IS_NODE\?.*?:navigator\["hardwareConcurrency"\];/,
    to: '_emscripten_num_logical_cores=()=>Module["cores"]||1;',
  },
  {
    // C++ cannot catch a trap, and the calling thread would wait for ever for one that has ended. Context::thread_stopped
    // lets its call fail, and so nothing is thrown here.
    why: "a trap in a thread ends the call that it works for",
    from: /if\(ex!="unwind"\)\{?throw ex;?\}?/,
    to: 'if(ex!="unwind")Module["threadStopped"](msgData["arg"],String(ex?.message??ex))',
  },
  {
    // Embind also takes this slow path, several times slower than the call itself, for functions with an
    // address among their parameters, as all of ours have.
    why: "only a result that is an address must be made unsigned",
    from: /signature\.includes\("p"\)/,
    to: 'signature[0]==="p"',
  },
  {
    // Bundlers also try to resolve what import() names.
    why: "service workers and some bundlers refuse a top-level await",
    from: /\(await import\('worker_threads'\)\)/,
    to: "process.getBuiltinModule('worker_threads')",
  },
  {
    why: "bundlers look for what import() names",
    from: /await import\("module"\)/,
    to: 'process.getBuiltinModule("module")',
  },
];

const [file] = process.argv.slice(2);
let text = readFileSync(file, "utf8");
for (const { why, from, to } of changes) {
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`${file}: expected ${from}, to be changed because ${why}`);
  text = changed;
}
const { code, errors } = minifySync(file, text, { module: true });
if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
writeFileSync(file, code);
