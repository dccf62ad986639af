/**
 * The panel “controls” of a room. It is open if there is room next to the pictures. It is folded on a narrow page, and
 * in rooms where the pictures come first.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Lockable, Panel } from "./Panel";

const wide = "(min-width: 64rem)";

interface SettingsPanelProps {
  /** Controls that change the computation. A teacher's lock disables them. */
  children?: ComponentChildren;
  /** Controls that change only the drawing. */
  look?: ComponentChildren;
  /** Its title, if it opens only on demand. */
  folded?: string;
}

export function SettingsPanel({ children, look, folded }: SettingsPanelProps) {
  const [open, setOpen] = useState(() => !folded && matchMedia(wide).matches);
  useEffect(() => {
    if (folded) return;
    const query = matchMedia(wide);
    const follow = () => setOpen(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, [folded]);
  return (
    <Panel name="controls">
      <details
        class={folded ? "settings folded" : "settings"}
        open={open}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>{folded ?? "Settings"}</summary>
        <div class="controls">
          <Lockable>{children}</Lockable>
          {look}
        </div>
      </details>
    </Panel>
  );
}
