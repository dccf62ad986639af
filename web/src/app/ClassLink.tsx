/** Builds a teacher's link to the current view: with hidden parts, locked, or with a single panel for an iframe. */
import { useState } from "preact/hooks";
import { CopyButton } from "../shared/CopyButton";
import { Choice, Switch } from "../shared/Fields";
import { noRestrictions, type Restrictions } from "../shared/restrictions";
import type { Panels } from "../shared/room";
import { FramePreview, frameSize } from "./FramePreview";
import { readLink, writeLink } from "./link";
import { addressOf } from "./usePlace";

/** Parts that belong to the shell, not to a room. */
const ownParts: Panels = { nav: "the list of rooms", text: "explanations" };

const whole = "";

function CopyField({ label, text }: { label: string; text: string }) {
  return (
    <div class="copy-field">
      <label class="faint">
        {label}
        <input
          type="text"
          readOnly
          value={text}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
      </label>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  );
}

export function ClassLink({ link, panels }: { link: string; panels: Panels }) {
  const [restrictions, setRestrictions] = useState<Restrictions>(noRestrictions);
  const [isOpen, setIsOpen] = useState(false);
  const [height, setHeight] = useState<number>(frameSize.height);
  const { hide, lock, embed } = restrictions;
  const { room, params } = readLink(link);
  const parts = { ...ownParts, ...panels };
  // Omits parts of another room that this room does not have.
  const applied = {
    lock,
    hide: embed === null ? hide.filter((part) => Object.hasOwn(parts, part)) : [],
    embed: embed !== null && Object.hasOwn(panels, embed) ? embed : null,
  };
  const address = addressOf(writeLink({ room, params, restrictions: applied }));
  const isPanel = applied.embed !== null;
  const frame = `<iframe src="${address.replace(/&/g, "&amp;")}" width="${frameSize.width}" height="${isPanel ? height : frameSize.height}" loading="lazy" title="Heed Playground"></iframe>`;
  return (
    <section aria-label="A link for teaching">
      <details class="class-link" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>Make a link for teaching</summary>
        <div class="class-restrictions column">
          <Choice
            label="Show"
            value={applied.embed ?? whole}
            choices={[
              [whole, "the whole room"],
              ...Object.entries(panels).map(([name, words]) => [name, `only ${words}`] as const),
            ]}
            onChange={(name) =>
              setRestrictions({ ...restrictions, embed: name === whole ? null : name })
            }
          />
          {applied.embed === null && (
            <fieldset class="switches line">
              <legend>
                <span>Hide</span>
              </legend>
              {Object.entries(parts).map(([name, words]) => (
                <Switch
                  key={name}
                  label={words}
                  checked={hide.includes(name)}
                  onChange={(on) =>
                    setRestrictions({
                      ...restrictions,
                      hide: on ? [...hide, name] : hide.filter((other) => other !== name),
                    })
                  }
                />
              ))}
            </fieldset>
          )}
          <Switch
            label="Lock: people can only play, point and choose a demonstration or a view"
            checked={lock}
            onChange={(lock) => setRestrictions({ ...restrictions, lock })}
          />
          <CopyField label="Link" text={address} />
          <CopyField label="Frame for another page" text={frame} />
          {isOpen && isPanel && <FramePreview address={address} onHeight={setHeight} />}
        </div>
      </details>
    </section>
  );
}
