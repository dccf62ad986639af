/** The length of a vector as a number and a bar. */
import { format } from "#parts";

/** @param most the length of the longest bar */
export function Length({ value, most }: { value: number; most: number }) {
  return (
    <span class="length" data-length={value}>
      <span class="number">{format(value, 2)}</span>
      <svg class="length-bar" aria-hidden="true">
        <rect width={`${most > 0 ? (100 * value) / most : 0}%`} height="100%" />
      </svg>
    </span>
  );
}
