/** A part of the page that is rendered again only if one of its inputs changes. */
import { Component, type ComponentChildren } from "preact";

interface SteadyProps {
  /** All values that the children depend on; always the same number of them. */
  readonly by: readonly unknown[];
  readonly children: () => ComponentChildren;
}

/** Replaces useMemo: memoised elements would keep the page's former elements, and all their data, in memory. */
export class Steady extends Component<SteadyProps> {
  override shouldComponentUpdate({ by }: SteadyProps): boolean {
    return by.some((each, i) => each !== this.props.by[i]);
  }

  override render({ children }: SteadyProps) {
    return children();
  }
}
