import { HeedError, type HeedErrorCode } from "./error.js";
import type { HeedModule } from "./module.js";

const codes: Record<string, HeedErrorCode> = {
  "heed::ShapeError": "shape",
  "heed::DTypeError": "dtype",
  "heed::OptionError": "option",
  "heed::MemoryError": "memory",
};

/** What C++ calls by one name is in TypeScript part of something. */
const names: Readonly<Record<string, string>> = {
  cu_seqlens_k: "cuSeqlens.k",
  cu_seqlens_q: "cuSeqlens.q",
  lse_a: "a.lse",
  lse_b: "b.lse",
  output_a: "a.output",
  output_b: "b.output",
  past_key: "past.key",
  past_value: "past.value",
};

const inTypeScript = (name: string) =>
  names[name] ?? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Sets memory aside that is given back while an exception is named: that takes some itself, and the
 * exception may be that there is none. In small pieces, because what takes their place while they are
 * away costs a few of them and not all.
 */
export function keepReserve(module: HeedModule): void {
  const pieces = 16;
  const elements = 512;
  const stack = module.stackSave();
  try {
    while (module.reserve.length < pieces) {
      module.reserve.push(new module.Tensor(module.DType.float32, [elements]));
    }
  } catch (error) {
    module.stackRestore(stack);
    if (!(error instanceof WebAssembly.Exception)) throw error;
    module.decrementExceptionRefcount(error);
  }
}

/** Type and text of a C++ exception, which is freed. */
function read(module: HeedModule, exception: WebAssembly.Exception): [string, string] {
  for (const piece of module.reserve.splice(0)) piece.delete();
  const typeAndMessage = module.getExceptionMessage(exception);
  module.decrementExceptionRefcount(exception);
  keepReserve(module);
  return typeAndMessage;
}

/**
 * Runs a call into the module; a C++ exception comes out as a HeedError.
 *
 * @param calledHere what this caller's users call an argument, by its name in the message
 */
export function guard<T>(
  module: HeedModule,
  call: () => T,
  calledHere: Readonly<Record<string, string>> = {},
): T {
  const stack = module.stackSave();
  try {
    return call();
  } catch (error) {
    // An exception that leaves the module does not unwind the stack that the module keeps in memory.
    module.stackRestore(stack);
    if (!(error instanceof WebAssembly.Exception)) throw error;
    const [type, message] = read(module, error);
    if (type === "std::bad_alloc") {
      throw new HeedError("memory", "memory: expected more bytes, got none", { cause: error });
    }
    const text = message
      .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, inTypeScript)
      .replace(/^\w+(?=:)/, (name) => calledHere[name] ?? name);
    throw new HeedError(codes[type] ?? "internal", text || type, { cause: error });
  }
}
