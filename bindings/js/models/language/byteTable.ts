// A table of vectors in bytes. The engine has no tensors of int8; rows are few, so JavaScript looks them up.

import { describe, refuse } from "../../core/error.js";
import type { Tensor } from "../../core/tensor.js";
import type { Heed } from "../../heed.js";

/** Rows [V, E], each rounded to whole numbers from -127 to 127 with one scale. */
export class ByteTable {
  readonly shape: readonly [rows: number, columns: number];
  #numbers: Int8Array;
  #scales: Float32Array;

  constructor(rows: number, columns: number) {
    this.shape = [rows, columns];
    this.#numbers = new Int8Array(rows * columns);
    this.#scales = new Float32Array(rows);
  }

  /** Stores rows [n, E] from a row on. */
  set(start: number, rows: Float32Array): void {
    const [, columns] = this.shape;
    for (let row = 0; row < rows.length / columns; ++row) {
      const begin = row * columns;
      let largest = 0;
      for (let i = begin; i < begin + columns; ++i)
        largest = Math.max(largest, Math.abs(rows[i] as number));
      const scale = largest / 127;
      this.#scales[start + row] = scale;
      if (scale === 0) continue; // the numbers are zeros
      for (let i = begin; i < begin + columns; ++i)
        this.#numbers[start * columns + i] = Math.round((rows[i] as number) / scale);
    }
  }

  /** ids int32 [...] -> float32 [..., E] */
  lookUp(heed: Heed, ids: Tensor): Tensor {
    const [rows, columns] = this.shape;
    const found = new Float32Array(ids.size * columns);
    for (const [i, id] of (ids.data as Int32Array).entries()) {
      if (id < 0 || id >= rows)
        throw refuse("option", "ids", `numbers from 0 to ${rows - 1}`, describe(id));
      const scale = this.#scales[id] as number;
      for (let c = 0; c < columns; ++c)
        found[i * columns + c] = scale * (this.#numbers[id * columns + c] as number);
    }
    return heed.tensor(found, [...ids.shape, columns]);
  }

  dispose(): void {
    this.#numbers = new Int8Array(0);
    this.#scales = new Float32Array(0);
  }
}
