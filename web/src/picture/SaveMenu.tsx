/** A menu that saves a picture as an image or as numbers. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Contents, SaveMenu as SaveMenuPart } from "#parts";

interface SaveMenuProps {
  /** The name of the saved content, needed if another menu next to this one saves something else. */
  what?: string;
  title: string;
  file: string;
  contents: Contents;
}

export function SaveMenu({ what, title, file, contents }: SaveMenuProps) {
  const place = useRef<HTMLDetailsElement>(null);
  const menu = useRef<SaveMenuPart | null>(null);
  useLayoutEffect(() => {
    if (place.current) menu.current ??= new SaveMenuPart(place.current, what);
    menu.current?.show(title, file, contents);
  });
  return <details ref={place} />;
}
