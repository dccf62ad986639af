// Refused calls of every operation, made from its row in the table of operations. Tensor arguments are replaced by
// other values, by disposed tensors, and by tensors of another engine or type. Options are replaced by values that are
// not objects, or get an unknown member. A result without gradient is used as a loss. The row lists further refusals.

import type { Heed, Tensor } from "heed";
import { grad } from "heed/nn";
import {
  type Call,
  type Given,
  made,
  type Taken,
  type WithOptions,
} from "../operations/operation.js";
import { entriesOf, operations } from "../operations/table.js";
import { any, type Case, disposed, foreign, gone, row } from "./case.js";

const wrong = { float32: "int32", int32: "float32", bool: "float32" } as const;

function tensorRows(title: string, [taken, call]: Call): Case[] {
  return Object.entries(taken).flatMap(([name, tensor]) => {
    const { type, types = type, isNamed = false, expected = "a tensor" } = tensor;
    const replaced =
      (by: (heed: Heed, other: Heed) => unknown): Case["call"] =>
      (heed, _, other) => {
        const given: Given = {};
        for (const each of Object.keys(taken))
          given[each] = each === name ? any(by(heed, other)) : made(heed, taken[each] as Taken);
        return call(heed, given);
      };
    const what = `${title} with ${name} that is`;
    const rows = [
      row(
        `${what} not a tensor`,
        replaced(() => "x"),
        isNamed ? "option" : "dtype",
        [name, expected, '"x"'],
      ),
      row(`${what} disposed`, replaced(disposed), "disposed", [name, ...gone]),
      row(
        `${what} of another engine`,
        replaced((_, other) => made(other, tensor)),
        "option",
        [name, ...foreign],
      ),
    ];
    if (type === undefined || types === undefined) return rows;
    const got = wrong[type];
    return [
      ...rows,
      row(
        `${what} ${got}`,
        replaced((h) => made(h, { ...tensor, type: got })),
        "dtype",
        [name, types, got],
      ),
    ];
  });
}

function optionRows(operation: string, [known, call]: WithOptions): Case[] {
  const unknown = [`an option of ${operation} (${known})`, "an unknown one"] as const;
  return [
    row(`${operation} with an unknown option`, (h, t) => call(h, t, any({ colour: 1 })), "option", [
      "colour",
      ...unknown,
    ]),
    row(`${operation} with a number for options`, (h, t) => call(h, t, any(5)), "option", [
      "options",
      "an object",
      "5",
    ]),
    row(`${operation} with null for options`, (h, t) => call(h, t, any(null)), "option", [
      "options",
      "an object",
      "null",
    ]),
    row(`${operation} with a list for options`, (h, t) => call(h, t, any([])), "option", [
      "options",
      "an object",
      "[]",
    ]),
    row(`${operation} with a tensor for options`, (h, t) => call(h, t, any(t(3))), "option", [
      "options",
      "an object",
      "a Tensor",
    ]),
  ];
}

/** A loss through the first result of a call, for its first float32 tensor. */
function lossRow(name: string, [taken, call]: Call): Case {
  const loss = (h: Heed) => {
    const given: Given = Object.fromEntries(
      Object.entries(taken).map(([name, tensor]) => [name, made(h, tensor)]),
    );
    const source = Object.values(given).find(({ dtype }) => dtype === "float32") as Tensor;
    return grad([source], () => {
      const result = call(h, given) as Tensor | Record<string, Tensor>;
      return h.sum("data" in result ? (result as Tensor) : (Object.values(result)[0] as Tensor));
    });
  };
  return row(`a loss through ${name}`, loss, "unsupported", [
    "loss",
    "a tensor with a gradient, or a detached one",
    `a result of ${name}, which has none`,
  ]);
}

export const operands: Case[] = [
  ...entriesOf("calls").flatMap(([title, call]) => tensorRows(title, call)),
  ...Object.entries(operations).flatMap(([name, { options, refusals = [] }]) => [
    ...(options ? optionRows(name, options) : []),
    ...refusals,
  ]),
];

/** Losses through results without gradient. Each case runs its own tape. */
export const losses: Case[] = Object.entries(operations).flatMap(([name, { calls, gradients }]) =>
  gradients === "none" ? Object.values(calls).map((call) => lossRow(name, call)) : [],
);
