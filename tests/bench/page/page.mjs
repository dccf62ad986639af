// Forwards requests of the program that opened this page to the worker, where blocking is allowed.

const worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });

/** Resolves to { result } or { error }. */
globalThis.ask = (method, argument) =>
  new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve({ error: message ?? "the worker did not start" });
    worker.postMessage({ method, argument });
  });
