// All kinds of random calls.

import { operations } from "../operations/table.js";
import { arithmetic } from "./arithmetic.js";
import { attention } from "./attention.js";
import type { Family } from "./family.js";
import { layers } from "./layers.js";

export const rightCalls: Readonly<Record<string, Family>> = {
  ...attention,
  ...arithmetic,
  ...layers,
  ...Object.fromEntries(
    Object.entries(operations).flatMap(([name, { right }]) => (right ? [[name, right]] : [])),
  ),
};
