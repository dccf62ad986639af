// biome-ignore-all lint/correctness/noUnusedVariables: the glue that follows this file uses it
// biome-ignore-all lint/suspicious/noShadowRestrictedNames: shadowing it is the point
// A page without cross-origin isolation has no global SharedArrayBuffer, but it can create shared
// memory, and this module asks whether its memory is one. Only this module sees the name.
const SharedArrayBuffer =
  globalThis.SharedArrayBuffer ??
  new WebAssembly.Memory({ initial: 0, maximum: 0, shared: true }).buffer.constructor;
// Bundlers take the bare name for one that they have to provide, and install a package for it.
const process = globalThis.process;
