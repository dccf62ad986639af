// Refused calls of every operation, made from its row in the table of operations. Tensor arguments are replaced by
// other values, by disposed tensors, and by tensors of another engine or type. Options are replaced by values that are
// not objects, or get an unknown member. A result without gradient is used as a loss. The row lists further refusals.

import type { Heed, Tensor } from "heed";
import { grad } from "heed/nn";
import * as operation from "../operations/operation.js";
import { entriesOf, operations } from "../operations/table.js";
import { type Attempt, any, disposed, foreign, gone, merged, type Refusals } from "./case.js";

const { made } = operation;
const wrong = { float32: "int32", int32: "float32", bool: "float32" } as const;

function tensorRefusals(title: string, [taken, call]: operation.Call): Refusals {
  const each = Object.entries(taken).map(([name, tensor]): Refusals => {
    const { type, types = type, isNamed = false, expected = "a tensor" } = tensor;
    const replaced =
      (by: (heed: Heed, other: Heed) => unknown): Attempt =>
      (heed, _, other) => {
        const given = Object.entries(taken).map(([key, each]): [string, Tensor] => [
          key,
          key === name ? any(by(heed, other)) : made(heed, each),
        ]);
        return call(heed, Object.fromEntries(given));
      };
    const what = `${title} with ${name} that is`;
    const refusals: Refusals = {
      [`${what} not a tensor`]: [
        replaced(() => "x"),
        `${isNamed ? "option" : "dtype"}: ${name}: expected ${expected}, got "x"`,
      ],
      [`${what} disposed`]: [replaced(disposed), `disposed: ${name}: ${gone}`],
      [`${what} of another engine`]: [
        replaced((_, other) => made(other, tensor)),
        `option: ${name}: ${foreign}`,
      ],
    };
    if (type === undefined || types === undefined) return refusals;
    const got = wrong[type];
    return {
      ...refusals,
      [`${what} ${got}`]: [
        replaced((h) => made(h, { ...tensor, type: got })),
        `dtype: ${name}: expected ${types}, got ${got}`,
      ],
    };
  });
  return merged(each);
}

const optionRefusals = (name: string, [known, call]: operation.WithOptions): Refusals => ({
  [`${name} with an unknown option`]: [
    (h, t) => call(h, t, any({ colour: 1 })),
    `option: colour: expected an option of ${name} (${known}), got an unknown one`,
  ],
  [`${name} with a number for options`]: [
    (h, t) => call(h, t, any(5)),
    "option: options: expected an object, got 5",
  ],
  [`${name} with null for options`]: [
    (h, t) => call(h, t, any(null)),
    "option: options: expected an object, got null",
  ],
  [`${name} with a list for options`]: [
    (h, t) => call(h, t, any([])),
    "option: options: expected an object, got []",
  ],
  [`${name} with a tensor for options`]: [
    (h, t) => call(h, t, any(t(3))),
    "option: options: expected an object, got a Tensor",
  ],
});

/** A loss through the first result of a call, for its first float32 tensor. */
function lossRefusal(name: string, [taken, call]: operation.Call): Refusals {
  const loss = (h: Heed) => {
    const given: operation.Given = Object.fromEntries(
      Object.entries(taken).map(([name, tensor]) => [name, made(h, tensor)]),
    );
    const source = Object.values(given).find(({ dtype }) => dtype === "float32") as Tensor;
    return grad([source], () => {
      const result = call(h, given) as Tensor | Record<string, Tensor>;
      return h.sum("data" in result ? (result as Tensor) : (Object.values(result)[0] as Tensor));
    });
  };
  return {
    [`a loss through ${name}`]: [
      loss,
      `unsupported: loss: expected a tensor with a gradient, or a detached one, got a result of ${name}, which has none`,
    ],
  };
}

export const operands: Refusals = {
  ...merged(entriesOf("calls").map(([title, call]) => tensorRefusals(title, call))),
  ...merged(
    Object.entries(operations).map(([name, { options, refusals }]) => ({
      ...(options && optionRefusals(name, options)),
      ...refusals,
    })),
  ),
};

/** Losses through results without gradient. Each case runs its own tape. */
export const losses: Refusals = merged(
  Object.entries(operations).flatMap(([name, { calls, gradients }]) =>
    gradients === "none" ? Object.values(calls).map((call) => lossRefusal(name, call)) : [],
  ),
);
