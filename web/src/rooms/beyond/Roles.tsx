/** Explains the role of queries, keys and values in each panel, with the same letters and colours in all. */

import type { Role } from "heed/view/parts";
import type { ComponentChildren } from "preact";
import { Panel } from "../../shared/Panel";

export function Roles({ children }: { children: ComponentChildren }) {
  return (
    <Panel name="text">
      <p class="roles">{children}</p>
    </Panel>
  );
}

/** A word in the colour of its role. */
export function As({ of, children }: { of: Role; children: ComponentChildren }) {
  return <b class={`role-${of}`}>{children}</b>;
}
