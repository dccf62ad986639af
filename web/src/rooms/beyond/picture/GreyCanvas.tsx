/** A grey picture in which a pixel can be selected. */
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { download } from "#parts";
import { arrowStep } from "../../../shared/arrowStep";
import { dragging } from "../../../shared/dragging";
import { placeIn } from "../../../shared/zoom";
import type { Pixel } from "../state";

interface Props {
  readonly name: string;
  readonly label: string;
  readonly grey: Uint8ClampedArray | null;
  readonly width: number;
  readonly height: number;
  readonly pixel: Pixel;
  /** The radii of the outlined window and patch around the selected pixel. */
  readonly window: number;
  readonly patch: number;
  /** Whether the arrow keys move the pixel in this picture; a click works in every picture. */
  readonly hasCursor: boolean;
  onPick(pixel: Pixel): void;
  readonly children: ComponentChildren;
}

/** The step of an arrow key with the shift key. */
const longStep = 8;

export function GreyCanvas({ children, ...props }: Props) {
  const { name, label, grey } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const save = () =>
    canvas.current?.toBlob((picture) => picture && download(picture, `heed-picture-${name}.png`));
  return (
    <figure class="grey" data-picture={name}>
      <Picture {...props} canvas={canvas} />
      <figcaption>
        {children}
        <button
          type="button"
          class="link faint"
          disabled={!grey}
          aria-label={`Save ${label} as PNG`}
          onClick={save}
        >
          save
        </button>
      </figcaption>
    </figure>
  );
}

const within = (index: number, count: number) => Math.max(0, Math.min(count - 1, index));

/** The picture, and the window and the patch around the selected pixel. */
function Picture(
  props: Omit<Props, "children"> & { readonly canvas: RefObject<HTMLCanvasElement | null> },
) {
  const { canvas, label, grey, width, height, pixel, window, patch, hasCursor, onPick } = props;
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !grey) return;
    const image = context.createImageData(width, height);
    const words = new Uint32Array(image.data.buffer);
    for (let i = 0; i < words.length; ++i) words[i] = 0xff000000 | ((grey[i] as number) * 0x010101);
    context.putImageData(image, 0, 0);
  }, [grey, width, height]);

  const pick = (row: number, col: number) =>
    onPick({ row: within(row, height), col: within(col, width) });
  const onKeyDown = (event: KeyboardEvent) => {
    const [right, up] = arrowStep(event) ?? [];
    if (right === undefined || up === undefined) return;
    const length = event.shiftKey ? longStep : 1;
    pick(pixel.row - length * up, pixel.col + length * right);
    event.preventDefault();
  };
  const cursor = hasCursor && {
    role: "application" as const,
    "aria-roledescription": "picture",
    "aria-label": `${label}. Arrow keys move the pixel, with Shift by ${longStep}.`,
    tabIndex: 0,
    onKeyDown,
  };
  const picking = dragging((event) => {
    const { clientWidth, clientHeight } = event.currentTarget as Element;
    const { x, y } = placeIn(event);
    pick(Math.floor((y / clientHeight) * height), Math.floor((x / clientWidth) * width));
  });
  const square = (radius: number) => {
    const side = 2 * radius + 1;
    return { x: pixel.col - radius, y: pixel.row - radius, width: side, height: side };
  };
  return (
    <div class="grey-picture" role="img" aria-label={label} {...cursor} {...picking}>
      <canvas ref={canvas} width={width} height={height} />
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {[window, patch].map((radius) => (
          <g key={radius}>
            <rect class="mark-under" {...square(radius)} />
            <rect class="mark" {...square(radius)} />
          </g>
        ))}
      </svg>
    </div>
  );
}
