/** The panel “controls” of a room: open if there is room beside the pictures, collapsed on a narrow page. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Lockable, Panel } from "./Panel";

const wide = "(min-width: 64rem)";

export function SettingsPanel({
  children,
  look,
}: {
  /** Controls that change what is computed: a teacher's lock disables them. */
  children?: ComponentChildren;
  /** Controls that only change how it is drawn. */
  look?: ComponentChildren;
}) {
  const [open, setOpen] = useState(() => matchMedia(wide).matches);
  useEffect(() => {
    const query = matchMedia(wide);
    const follow = () => setOpen(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return (
    <Panel name="controls">
      <details
        class="settings"
        open={open}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>Settings</summary>
        <div class="controls">
          <Lockable>{children}</Lockable>
          {look}
        </div>
      </details>
    </Panel>
  );
}
