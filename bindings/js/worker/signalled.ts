// The functions with their own AbortSignal, because they wait, for example for the network.

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

/**
 * The names of all these functions. TypeScript checks that none is missing and none is too many.
 * `write` is internal, and safetensors has a function of the same name without a signal.
 */
const names: Readonly<Record<Exclude<Signalled<Models> | OfInstances, "write">, true>> = {
  answer: true,
  answerQuestion: true,
  classify: true,
  classifyTokens: true,
  embed: true,
  evaluate: true,
  fillMasks: true,
  generate: true,
  loadChatTemplate: true,
  loadModel: true,
  loadTokenizer: true,
  textLoss: true,
  writeText: true,
};

export const signalled: ReadonlySet<string> = new Set(Object.keys(names));
