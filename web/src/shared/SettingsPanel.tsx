/**
 * The panel “controls” of a room: open if there is room beside the pictures, and collapsed on a narrow page or in a room
 * whose pictures come first.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Lockable, Panel } from "./Panel";

const wide = "(min-width: 64rem)";

export function SettingsPanel({
  children,
  look,
  folded,
}: {
  /** Controls that change what is computed: a teacher's lock disables them. */
  children?: ComponentChildren;
  /** Controls that only change how it is drawn. */
  look?: ComponentChildren;
  /** Its title, if it opens only on demand. */
  folded?: string;
}) {
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
