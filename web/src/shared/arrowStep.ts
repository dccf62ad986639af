/** The direction of an arrow key, in steps to the right and up; undefined for other keys. */
const steps: Readonly<Record<string, readonly [right: number, up: number]>> = {
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

export const arrowStep = ({ key }: KeyboardEvent) => steps[key];

/** The step through a sequence by an arrow key, right and down for the next; 0 for other keys. */
export function alongStep(event: KeyboardEvent): number {
  const [right, up] = arrowStep(event) ?? [0, 0];
  return right - up;
}
