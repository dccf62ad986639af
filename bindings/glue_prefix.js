// biome-ignore-all lint/correctness/noUnusedVariables: the glue that follows this file uses it
// biome-ignore-all lint/suspicious/noShadowRestrictedNames: shadowing it is the point
// A page without cross-origin isolation has no global SharedArrayBuffer, but it can create shared
// memory, and this module checks whether its buffer is an instance of that class. The name is local
// to this module.
const SharedArrayBuffer =
  globalThis.SharedArrayBuffer ??
  new WebAssembly.Memory({ initial: 0, maximum: 0, shared: true }).buffer.constructor;
// Bundlers would replace a global `process` by a polyfill package.
const process = globalThis.process;
// The glue is linked for browsers. In Node, the worker of a thread gets the globals of a browser's
// worker. The glue recognises it by its name, which bindings/js/load/workerScript.ts gives it.
const { parentPort, workerData } = process?.getBuiltinModule?.("worker_threads") ?? {};
if (workerData === "em-pthread") {
  globalThis.location ??= { href: import.meta.url };
  const postMessage = (message) => parentPort.postMessage(message);
  Object.assign(globalThis, {
    self: globalThis,
    name: workerData,
    importScripts() {},
    // Newer versions of Emscripten look for this class in place of importScripts.
    WorkerGlobalScope: Object,
    postMessage,
  });
  parentPort.on("message", (data) => globalThis.onmessage({ data }));
}
