/** A menu that saves a picture as an image or as numbers. */

import { useLayoutEffect, useRef } from "preact/hooks";
import {
  type Contents,
  contentsOf,
  inkOf,
  type Picture,
  type Saved,
  SaveMenu as SaveMenuPart,
} from "#parts";

export function SaveMenu({
  what,
  title,
  file,
  contents,
}: {
  /** The name of the saved content, needed if another menu next to this one saves something else. */
  what?: string;
  title: string;
  file: string;
  contents: Contents;
}) {
  const place = useRef<HTMLDetailsElement>(null);
  const menu = useRef<SaveMenuPart | null>(null);
  useLayoutEffect(() => {
    if (place.current) menu.current ??= new SaveMenuPart(place.current, what);
    menu.current?.show(title, file, contents);
  });
  return <details ref={place} />;
}

export function SaveMatrix({
  title,
  picture,
  saved,
}: {
  title: string;
  picture: Picture;
  saved: Saved;
}) {
  if (!picture.view) return null;
  const contents = contentsOf(picture, saved, () => inkOf(document.body));
  return <SaveMenu title={title} file={saved.file} contents={contents} />;
}
