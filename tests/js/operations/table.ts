// All operations: the computing methods of an engine. Methods that load, hold or describe objects are not operations.

import { arithmetic } from "./arithmetic.js";
import { arrays } from "./arrays.js";
import { attention } from "./attention.js";
import { attentionPooling, sampling } from "./attention_pooling.js";
import { create } from "./create.js";
import { layers } from "./layers.js";
import type { Operation } from "./operation.js";

export const operations: Readonly<Record<string, Operation>> = {
  ...create,
  ...arithmetic,
  ...arrays,
  ...layers,
  ...attention,
  ...attentionPooling,
  ...sampling,
};

/** The entries of one member of all operations, each by its title. */
export function entriesOf<Key extends "calls" | "keepsShape" | "ofNothing" | "anyRank" | "results">(
  key: Key,
): [title: string, entry: NonNullable<Operation[Key]>[string], operation: Operation][] {
  return Object.values(operations).flatMap((operation) =>
    Object.entries(operation[key] ?? {}).map(
      ([title, entry]): [string, NonNullable<Operation[Key]>[string], Operation] => [
        title,
        entry as NonNullable<Operation[Key]>[string],
        operation,
      ],
    ),
  );
}
