// The functions that take an AbortSignal of their own, because they wait for something, such as a network.

type Models = typeof import("../models.js");

/** The names of the functions whose options have a signal. */
type Signalled<T> = {
  [Name in keyof T]: T[Name] extends (...args: infer Args) => unknown
    ? Required<Args>[number] extends infer Argument
      ? Argument extends object
        ? Argument extends { signal?: infer Signal }
          ? "signal" extends keyof Argument
            ? [Signal] extends [AbortSignal | undefined]
              ? Name
              : never
            : never
          : never
        : never
      : never
    : never;
}[keyof T];

type OfInstances = {
  [Name in keyof Models]: Models[Name] extends abstract new (
    ...args: never
  ) => infer Instance
    ? Signalled<Instance>
    : never;
}[keyof Models];

/** All of them, and no others: the compiler knows. `write` is internal, and safetensors has another one. */
const names: Readonly<Record<Exclude<Signalled<Models> | OfInstances, "write">, true>> = {
  answer: true,
  evaluate: true,
  generate: true,
  loadModel: true,
  loadTokenizer: true,
  textLoss: true,
  writeText: true,
};

export const signalled: ReadonlySet<string> = new Set(Object.keys(names));
