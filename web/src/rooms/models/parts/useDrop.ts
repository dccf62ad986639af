/** Files that a person drops on the page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type FoundFile, filesDropped } from "../language/source";

/** Takes files that are dropped anywhere on the page. Otherwise the browser would open them and leave the page. */
export function useDrop(take: (found: readonly FoundFile[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files");
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = ({ relatedTarget }: DragEvent) => {
      if (!relatedTarget) setOver(false);
    };
    const drop = async (event: DragEvent) => {
      setOver(false);
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      latest.current(await filesDropped(event.dataTransfer));
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
  return isOver;
}
