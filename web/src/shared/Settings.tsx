/** A room's controls, the panel “controls”: always open where there is room beside the pictures, folded away on a narrow page. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Lockable, Panel } from "./Panel";

const wide = "(min-width: 64rem)";

export function Settings({
  children,
  look,
}: {
  /** What changes what is computed: a teacher's lock disables it. */
  children?: ComponentChildren;
  /** What only changes how it is drawn. */
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
