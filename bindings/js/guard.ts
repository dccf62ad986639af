import { HeedError, type HeedErrorCode } from "./error.js";
import type { HeedModule } from "./module.js";

const codes: Record<string, HeedErrorCode> = {
  "heed::ShapeError": "shape",
  "heed::DTypeError": "dtype",
  "heed::OptionError": "option",
  "heed::MemoryError": "memory",
  "std::bad_alloc": "memory",
};

/** Runs a call into the module; a C++ exception comes out as a HeedError. */
export function guard<T>(module: HeedModule, call: () => T): T {
  const stack = module.stackSave();
  try {
    return call();
  } catch (error) {
    // An exception that leaves the module does not unwind the stack that the module keeps in memory.
    module.stackRestore(stack);
    if (!(error instanceof WebAssembly.Exception)) throw error;
    const [type, message] = module.getExceptionMessage(error);
    module.decrementExceptionRefcount(error);
    // C++ names its arguments in snake_case.
    const text = message.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) =>
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    );
    throw new HeedError(codes[type] ?? "internal", text || type, { cause: error });
  }
}
