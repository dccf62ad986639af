/** Computes the mean outputs of heads in double precision. */
import { nn } from "heed/nn";

/** The mean output of one head over all positions that the model reads while `run` runs. */
export function meanOutput(
  model: nn.Module,
  { path, head }: { readonly path: string; readonly head: number },
  run: () => void,
): Float32Array {
  let sum: number[] = [];
  let positions = 0;
  const receive: nn.ReceiveWeights = (at, weights, compared) => {
    if (at !== path) return;
    const { value } = (compared as () => nn.Compared)();
    const [, heads, rows, columns] = weights.shape as [number, number, number, number];
    const [, groups, , size] = value.shape as [number, number, number, number];
    const group = Math.floor((head * groups) / heads);
    const output = (row: number, d: number) =>
      Array.from({ length: columns }, (_, col) => {
        const weight = weights.data[(head * rows + row) * columns + col] as number;
        return weight * (value.data[(group * columns + col) * size + d] as number);
      }).reduce((all, each) => all + each, 0);
    sum = Array.from({ length: size }, (_, d) =>
      Array.from({ length: rows }, (_, row) => output(row, d)).reduce((a, b) => a + b, sum[d] ?? 0),
    );
    positions += rows;
  };
  nn.captureAttention(model, receive, run);
  return Float32Array.from(sum, (each) => each / positions);
}
