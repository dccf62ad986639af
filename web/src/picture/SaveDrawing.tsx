/** Saves a drawing of lines and marks as the page shows it, with its title and legend. */
import type { RefObject } from "preact";
import { type Contents, csvBlob, drawingSvg, drawnContents, inkOf } from "#parts";
import { SaveMenu } from "./SaveMenu";

interface SaveDrawingProps {
  /** The element that contains the picture. */
  part: RefObject<HTMLElement | null>;
  title: string;
  file: string;
  /** The style that animates the elements marked with `data-plays`; undefined if there is no animation. */
  plays?: (() => string) | undefined;
  /** Writes its numbers, if they can be saved. */
  csv?: () => string;
}

export function SaveDrawing({ part, title, file, plays, csv }: SaveDrawingProps) {
  const svg = () => (part.current ? drawingSvg(part.current, title, inkOf(document.body)) : "");
  const contents: Contents = {
    ...drawnContents(svg, plays),
    ...(csv && { csv: () => csvBlob(csv()) }),
  };
  return (
    <div class="save-drawing small">
      <SaveMenu title={title} file={file} contents={contents} />
    </div>
  );
}
