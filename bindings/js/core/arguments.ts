// Types for the functions of members.ts, which write structs as numbers.

/** An object that has all members, given or undefined, and no others, so that none is forgotten or misspelled. */
export type Exact<O, Members> = O &
  Record<Exclude<keyof Members, keyof O> | Exclude<keyof O, keyof Members>, never>;
