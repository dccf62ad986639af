// For the functions of members.ts, which write structs as numbers.

import type { Engine } from "./engine.js";
import type { Handle } from "./module.js";
import type { Tensor } from "./tensor.js";

/** A tensor, or the C++ object of one. */
export type TensorArgument = Tensor | Handle;

/** An object that has all members, given or undefined, and no others, so that none is forgotten or misspelled. */
export type Exact<O, Members> = O &
  Record<Exclude<keyof Members, keyof O> | Exclude<keyof O, keyof Members>, never>;

export function handle(engine: Engine, name: string, tensor: TensorArgument): Handle {
  return typeof tensor === "number" ? tensor : engine.handle(name, tensor);
}

export function handleOrNone(
  engine: Engine,
  name: string,
  tensor: TensorArgument | undefined,
): Handle {
  return tensor === undefined ? 0 : handle(engine, name, tensor);
}
