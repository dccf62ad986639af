/**
 * The panel “controls” of a room. It is open if there is room next to the pictures. It is folded on a narrow page, and
 * in rooms where the pictures come first.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Lockable, Panel } from "./Panel";
import { useMedia } from "./useMedia";

interface SettingsPanelProps {
  /** Controls that change the computation. A teacher's lock disables them. */
  children?: ComponentChildren;
  /** Controls that change only the drawing. */
  look?: ComponentChildren;
  /** Its title, if it opens only on demand. */
  folded?: string;
}

export function SettingsPanel({ children, look, folded }: SettingsPanelProps) {
  const hasRoom = useMedia("(min-width: 64rem)") && !folded;
  const [open, setOpen] = useState(hasRoom);
  useEffect(() => setOpen(hasRoom), [hasRoom]);
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
