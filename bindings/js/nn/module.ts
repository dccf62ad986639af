// What all modules are: a tree of parameters under PyTorch's names.

import { classOf, isInstance, mark, markKey } from "../core/copies.js";
import { describe, refuse } from "../core/error.js";
import { disposeSymbol, inspectSymbol } from "../core/owned.js";
import { recording, within } from "../core/tape.js";
import { Tensor } from "../core/tensor.js";
import { checkArgument, checkOptions, isBoolean } from "../core/validate.js";
import { Heed } from "../heed.js";
import {
  type LoadedStateDict,
  type LoadStateDictOptions,
  loadTensors,
  type StateDict,
} from "./stateDict.js";

/** Refuses what is no engine. */
export function checkEngine(heed: unknown): asserts heed is Heed {
  if (!(heed instanceof Heed))
    throw refuse("option", "heed", "the engine that load() gave", describe(heed));
}

/**
 * A part of a model. A subclass has its parameters and parts as public fields, and computes in `forward`:
 *
 *     class Residual extends nn.Module {
 *       readonly inner: nn.Linear;
 *       constructor(heed: Heed, size: number) {
 *         super(heed);
 *         this.inner = new nn.Linear(heed, size, size);
 *       }
 *       forward(x: Tensor): Tensor {
 *         return this.heed.add(x, this.inner.forward(x));
 *       }
 *     }
 *
 * A field that is a tensor is a parameter, one that is a module a part, and one that is an array of either
 * has them under their numbers; `#private` fields are neither. The state dict names them as PyTorch would:
 * `selfAttn.inProjWeight` is "self_attn.in_proj_weight", `layers[0]` is "layers.0".
 *
 * What `forward` makes is freed but for what it returns, as in a `heed.scope`; it must not be async. What it
 * makes once and stores in a field, such as packed weights, needs `heed.keep`.
 */
export abstract class Module implements Disposable {
  /** The engine; not enumerable, so that nothing prints it with the module. */
  declare readonly heed: Heed;
  /** Whether dropout drops. */
  training = true;

  constructor(heed: Heed) {
    checkEngine(heed);
    Object.defineProperty(this, "heed", { value: heed, configurable: true, writable: true });
    // An error that leaves `forward` is to tell where in the model it arose, and what it makes on the
    // way is to be freed: by the tape if one runs.
    const forward = this.forward;
    const guarded = (...args: never[]) =>
      within(this, () => {
        const run = () => forward.apply(this, args);
        return recording() ? run() : heed.scope(run);
      });
    Object.defineProperty(this, "forward", {
      value: guarded,
      configurable: true,
      writable: true,
      enumerable: false,
    });
  }

  abstract forward(...args: never[]): unknown;

  /** The tensors to train, each once though modules may share it. */
  parameters(): Tensor[] {
    return this.namedParameters().map(([, tensor]) => tensor);
  }

  /** The same with their names; a shared one has its first. */
  namedParameters(): [name: string, tensor: Tensor][] {
    const seen = new Set<Tensor>();
    return Object.entries(this.stateDict()).filter(
      ([, tensor]) => !seen.has(tensor) && seen.add(tensor),
    );
  }

  /**
   * All parameters by name. They are the module's own tensors, not copies: they change as it is trained
   * and end with it. `safetensors.write(module.stateDict())` keeps them.
   */
  stateDict(): Record<string, Tensor> {
    const found: Record<string, Tensor> = {};
    for (const [name, part] of partsOf(this)) {
      if (part instanceof Tensor) found[name] = part;
      else {
        for (const [inner, tensor] of Object.entries(part.stateDict())) {
          found[`${name}.${inner}`] = tensor;
        }
      }
    }
    return found;
  }

  /**
   * Copies numbers into the parameters of the same names: another module's state dict, or
   * `safetensors.read(bytes).tensors`.
   *
   * @returns the names that were not given and those that have no parameter, if that is allowed
   * @throws HeedError that lists every name that is missing, not known or of another shape; nothing is
   *   written then
   */
  loadStateDict(dict: StateDict, options: LoadStateDictOptions = {}): LoadedStateDict {
    checkOptions("loadStateDict", options, { strict: isBoolean });
    return loadTensors("the module", this.stateDict(), dict, options.strict ?? true);
  }

  /** Puts the module and all its parts into train mode, in which dropout drops, or out of it. */
  train(mode = true): this {
    checkArgument("mode", mode, isBoolean);
    this.training = mode;
    for (const [, part] of partsOf(this)) if (part instanceof Module) part.train(mode);
    return this;
  }

  eval(): this {
    return this.train(false);
  }

  /** Its class, and how many tensors and numbers it has to train. */
  toJSON(): { module: string; training: boolean; parameters: number; numbers: number } {
    const tensors = this.parameters();
    return {
      module: classOf(this),
      training: this.training,
      parameters: tensors.length,
      numbers: tensors.reduce((sum, { size }) => sum + size, 0),
    };
  }

  /** Its class, with the shapes of its own parameters and the classes of its parts. */
  toString(): string {
    const parts = partsOf(this).map(([name, part]) =>
      part instanceof Tensor ? `${name} ${describe(part.shape)}` : `${name} ${classOf(part)}`,
    );
    return `${classOf(this)}(${parts.join(", ")})`;
  }

  [inspectSymbol](): string {
    return this.toString();
  }

  /** @internal The path from this module to a part of it, or a part of a part. */
  nameOf(part: unknown): string | undefined {
    for (const [name, own] of partsOf(this)) {
      if (own === part) return name;
      const rest = own instanceof Module ? own.nameOf(part) : undefined;
      if (rest !== undefined) return `${name}.${rest}`;
    }
    return undefined;
  }

  /** Frees the parameters. Doing so again does nothing. */
  dispose(): void {
    for (const [, part] of partsOf(this)) part.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** @internal */
  get [markKey](): object {
    return mark;
  }

  static readonly [Symbol.hasInstance] = isInstance;

  get [Symbol.toStringTag](): string {
    return "Module";
  }
}

/** The parameters and parts of a module under their names, in the order of its fields. */
function partsOf(module: Module): [name: string, part: Tensor | Module][] {
  const isPart = (value: unknown) => value instanceof Tensor || value instanceof Module;
  return Object.entries(module).flatMap(([field, value]: [string, unknown]) => {
    const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (isPart(value)) return [[name, value]];
    if (!Array.isArray(value)) return [];
    return value.flatMap((part, i) => (isPart(part) ? [[`${name}.${i}`, part]] : []));
  }) as [string, Tensor | Module][];
}
