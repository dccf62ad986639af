/** Saves a drawing of lines and marks as it is on the page, with its title and legend. */

import { type Contents, csvBlob, drawingSvg, drawnContents, inkOf } from "heed/view/parts";
import type { RefObject } from "preact";
import { SaveMenu } from "./SaveMenu";

export function SaveDrawing({
  part,
  title,
  file,
  plays,
  csv,
}: {
  /** The element that contains the picture. */
  part: RefObject<HTMLElement | null>;
  title: string;
  file: string;
  /** The style by which it plays what it marks with `data-plays`, if it does. */
  plays?: (() => string) | undefined;
  /** Its numbers, if they can be saved. */
  csv?: () => string;
}) {
  const svg = () => (part.current ? drawingSvg(part.current, title, inkOf(document.body)) : "");
  const contents: Contents = {
    ...drawnContents(svg, plays),
    ...(csv && { csv: () => csvBlob(csv()) }),
  };
  return (
    <div class="save-drawing">
      <SaveMenu title={title} file={file} contents={contents} />
    </div>
  );
}
