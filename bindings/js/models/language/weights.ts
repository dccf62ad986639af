// Stores the parameters of a loaded model: float32 as in training, float16, int8 with a scale for each
// row, or int4 with a scale for each 32 numbers of a row.

import { dtypes } from "../../core/constants.js";
import { HeedError } from "../../core/error.js";
import type { DType, Tensor } from "../../core/tensor.js";
import type { Heed } from "../../heed.js";
import type { PackedWeights } from "../../ops/packedWeights.js";
import { ByteTable } from "./byteTable.js";
import type { Parameter, ParameterSpecs } from "./parameters.js";

/** How the weights of matrices and tables are stored. Vectors are always float32. */
export type WeightType = (typeof weightTypes)[number];
export const weightTypes = ["float32", "float16", "int8", "int4"] as const;

/** With int8 and int4, the tokens' table is stored in bytes, and a tied head has a separate packed weight. */
const headName = "lm_head.weight";
const tableName = "model.embed_tokens.weight";

type PackedType = "int8" | "int4";
const isPacked = (dtype: WeightType): dtype is PackedType => dtype === "int8" || dtype === "int4";
const bytesOfPacked = { int8: 1, int4: 18 / 32 };

/** The bytes of the parameters in the engine's memory, without the scales of int8 rows. */
export function bytesOf(specs: ParameterSpecs, dtype: WeightType, hasTiedHead: boolean): number {
  let bytes = 0;
  for (const [name, { shape, role }] of specs) {
    const numbers = shape.reduce((a, b) => a * b, 1);
    if (role === "vector" || dtype === "float32") bytes += 4 * numbers;
    else if (dtype === "float16" || (role === "table" && name !== tableName)) bytes += 2 * numbers;
    else if (role === "matrix" || hasTiedHead) bytes += bytesOfPacked[dtype] * numbers;
  }
  return Math.ceil(bytes);
}

/**
 * The number of reads of a file that make one block of packed weights: 8 MB that are buffered as
 * float32. Each block is one call per token; the head of GPT-2 has 19 blocks.
 */
const readsOfBlock = 4;

const newTensor = ({ engine }: Heed, shape: readonly number[], dtype: DType = "float32"): Tensor =>
  engine.apply(engine.module.newTensor, [dtypes.indexOf(dtype), shape.length, ...shape]);

/**
 * Copies rows into a tensor of the given shape, and frees them. Without a tensor, it creates one.
 * If the rows are the whole tensor, they are returned unchanged.
 */
function withRows(
  heed: Heed,
  found: Tensor | undefined,
  shape: readonly number[],
  start: number,
  rows: Tensor,
): Tensor {
  if (rows.shape[0] === shape[0]) return rows;
  const whole = found ?? newTensor(heed, shape, rows.dtype);
  whole.data.set(rows.data, (start * whole.size) / (shape[0] as number));
  rows.dispose();
  return whole;
}

/**
 * Copies columns, [n, out] as the rows of a transposed matrix, into a matrix [out, in], and frees
 * them. Without a matrix, it creates one.
 */
export function withColumns(
  heed: Heed,
  found: Tensor | undefined,
  [out, size]: readonly [out: number, size: number],
  start: number,
  columns: Tensor,
): Tensor {
  const turned = heed.transpose(columns);
  columns.dispose();
  const count = turned.shape[1] as number;
  if (count === size) return turned;
  const whole = found ?? newTensor(heed, [out, size]);
  const [to, from] = [whole.data, turned.data];
  for (let row = 0; row < out; ++row)
    to.set(from.subarray(row * count, (row + 1) * count), row * size + start);
  turned.dispose();
  return whole;
}

/** The parameters of a model that is being loaded. */
export class WeightStore {
  readonly made = new Map<string, Parameter>();
  readonly #heed: Heed;
  readonly #specs: ParameterSpecs;
  readonly #dtype: WeightType;
  readonly #hasTiedHead: boolean;
  /** Rows that are buffered until they make a block of packed weights, and their number. */
  #waiting: Tensor | undefined;
  #waitingRows = 0;

  /** @param hasTiedHead whether the model computes logits with the table of its tokens */
  constructor(heed: Heed, specs: ParameterSpecs, dtype: WeightType, hasTiedHead: boolean) {
    this.#heed = heed;
    this.#specs = specs;
    this.#dtype = dtype;
    this.#hasTiedHead = hasTiedHead;
  }

  /**
   * Stores rows of a parameter. The rows of a parameter must be added in order.
   *
   * @param rows float32 [rows, columns], or [n] for a vector. The store owns the tensor from now on
   */
  add(name: string, start: number, rows: Tensor): void {
    const spec = this.#specs.get(name);
    if (spec === undefined) throw new HeedError("internal", `there is no parameter ${name}`);
    const { shape, role } = spec;
    const heed = this.#heed;
    const put = (own: Tensor) => {
      const found = this.made.get(name) as Tensor | undefined;
      this.made.set(name, withRows(heed, found, shape, start, own));
    };
    if (role === "vector" || this.#dtype === "float32") {
      put(rows);
    } else if (isPacked(this.#dtype) && name === tableName) {
      const [count = 0, columns = 0] = shape;
      const table = (this.made.get(name) as ByteTable) ?? new ByteTable(count, columns);
      this.made.set(name, table);
      table.set(start, rows.data as Float32Array);
      if (this.#hasTiedHead) this.#pack(headName, start, count, rows);
      rows.dispose();
    } else if (!isPacked(this.#dtype) || role === "table") {
      const halves = heed.cast(rows, "float16");
      rows.dispose();
      put(halves);
    } else {
      this.#pack(name, start, shape[0] as number, rows);
      rows.dispose();
    }
  }

  /**
   * Packs rows of a matrix with `count` rows. If the read has fewer rows, they are buffered until
   * the block is full. All reads have the same number of rows, except for the last one.
   */
  #pack(name: string, start: number, count: number, rows: Tensor): void {
    const [length, columns] = rows.shape as [number, number];
    if (length === count) {
      this.#addBlock(name, rows);
      return;
    }
    const room = Math.min(readsOfBlock * length, count - start);
    this.#waiting ??= newTensor(this.#heed, [room, columns]);
    this.#waiting.data.set(rows.data, this.#waitingRows * columns);
    this.#waitingRows += length;
    if (this.#waitingRows < (this.#waiting.shape[0] as number)) return;
    this.#addBlock(name, this.#waiting);
    this.#forget();
  }

  #addBlock(name: string, rows: Tensor): void {
    const format = this.#dtype as PackedType;
    const blocks = (this.made.get(name) ?? []) as readonly PackedWeights[];
    this.made.set(name, [...blocks, this.#heed.packWeights(rows, { format })]);
  }

  #forget(): void {
    this.#waiting?.dispose();
    this.#waiting = undefined;
    this.#waitingRows = 0;
  }

  dispose(): void {
    this.#forget();
    for (const parameter of this.made.values())
      for (const part of [parameter].flat()) part.dispose();
  }
}
