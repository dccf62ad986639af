/** Previews a panel as an iframe of another page, and measures the height that the iframe needs. */
import { useEffect, useRef, useState } from "preact/hooks";
import { px } from "#parts";

/** In CSS pixels. The height is for a whole room, which scrolls in its frame. */
export const frameSize = { width: 800, height: 600 } as const;

/** In milliseconds: while a room plays, its address changes many times a second. */
const wait = 500;

interface FramePreviewProps {
  address: string;
  /** Called with the height of the panel, in CSS pixels. */
  onHeight(height: number): void;
}

export function FramePreview({ address, onHeight }: FramePreviewProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [shown, setShown] = useState(address);
  const [height, setHeight] = useState<number>(frameSize.height);
  const observer = useRef<ResizeObserver | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setShown(address), wait);
    return () => clearTimeout(timer);
  }, [address]);
  useEffect(() => () => observer.current?.disconnect(), []);

  const follow = () => {
    const body = frame.current?.contentDocument?.body;
    if (!body) return;
    observer.current?.disconnect();
    observer.current = new ResizeObserver(() => {
      // Measures the panel, not the empty page that is there before it.
      if (!body.querySelector("main.embedded")) return;
      const height = Math.ceil(body.getBoundingClientRect().height);
      setHeight(height);
      onHeight(height);
    });
    observer.current.observe(body);
  };
  return (
    <figure class="frame-preview">
      <figcaption class="faint">
        What the frame shows, {frameSize.width} × <span class="number">{height}</span> pixels
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="The frame">
        {/* A new frame for each address: navigating an existing frame would add an entry to the history. */}
        <iframe
          key={shown}
          ref={frame}
          src={shown}
          title="The frame as another page shows it"
          style={{ width: px(frameSize.width), height: px(height) }}
          onLoad={follow}
        />
      </section>
    </figure>
  );
}
