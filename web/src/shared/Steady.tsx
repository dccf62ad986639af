/** A part of the page that is rendered anew only if what it shows changes. */
import { Component, type ComponentChildren } from "preact";

interface SteadyProps {
  /** All that the children are made of; as many entries each time. */
  readonly by: readonly unknown[];
  readonly children: () => ComponentChildren;
}

/** In place of elements that useMemo keeps: these hold the page's former elements too, with all that they showed. */
export class Steady extends Component<SteadyProps> {
  override shouldComponentUpdate({ by }: SteadyProps): boolean {
    return by.some((each, i) => each !== this.props.by[i]);
  }

  override render({ children }: SteadyProps) {
    return children();
  }
}
