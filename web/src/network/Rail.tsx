/** The residual stream as a vertical line, and the parts that read it and add to it. */

/** Positions of the stream and of the parts next to it, in pixels. */
const stream = 10;
const beside = 22;
const top = 14;

/** The width of the column that shows the stream, in pixels. */
export const railWidth = (width: number): number => (width < 480 ? 32 : 48);

function Plus({ y }: { y: string | number }) {
  return (
    <svg x={stream} y={y} class="plus" aria-hidden="true">
      <circle r="4.5" />
      <path d="M-2.5 0H2.5M0 -2.5V2.5" />
    </svg>
  );
}

/** A part that reads the stream above its plus. */
function Branch({ y, isCross }: { y: string; isCross: boolean }) {
  return (
    <>
      <svg x={stream} y={y} class="branch" aria-hidden="true">
        <path d="M0 -10H9Q13 -10 13 -6V-4Q13 0 9 0H4" />
        {isCross && <path class="from-memory" d="M-24 -5H-5M-9 -8L-5 -5L-9 -2M5 -5H13" />}
      </svg>
      <Plus y={y} />
    </>
  );
}

export type RailKind = "start" | "layer" | "open" | "reads" | "part" | "adds" | "end";

/**
 * The section of the line in one row, as high as the row.
 *
 * @param parts the number of parts in a layer's row; the second of three also reads the encoder's output
 */
export function Rail({ kind, parts = 2 }: { kind: RailKind; parts?: number }) {
  const isEnd = kind === "end";
  const branch = { reads: [top, "100%"], part: [0, "100%"], adds: [0, top] }[
    kind as "reads" | "part" | "adds"
  ] as [number, number | string] | undefined;
  const places = parts === 3 ? ["26%", "55%", "84%"] : ["30%", "80%"];
  return (
    <svg class="rail" aria-hidden="true">
      <line
        class="stream"
        x1={stream}
        x2={stream}
        y1={kind === "start" ? "50%" : 0}
        y2={isEnd ? "50%" : "100%"}
      />
      {(kind === "start" || isEnd) && <circle class="end" cx={stream} cy="50%" r="4" />}
      {kind === "layer" &&
        places.map((y, i) => <Branch key={y} y={y} isCross={parts === 3 && i === 1} />)}
      {branch && <line x1={beside} x2={beside} y1={branch[0]} y2={branch[1]} />}
      {(kind === "reads" || kind === "adds") && <line x1={stream} x2={beside} y1={top} y2={top} />}
      {kind === "adds" && <Plus y={top} />}
    </svg>
  );
}
