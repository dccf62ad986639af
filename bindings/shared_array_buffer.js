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
