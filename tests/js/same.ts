// Compares types in tests that TypeScript checks.

/** Whether two types are the same for TypeScript. */
type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if the types are the same: `same<typeof x, Tensor>(true)`. */
export function same<A, B>(_proof: Equal<A, B>): void {}
