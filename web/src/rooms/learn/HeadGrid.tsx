/** All heads of a model as small pictures, an attention in each row; one of them is drawn large. */
import { useId, useMemo } from "preact/hooks";
import type { Palette } from "../../colour";
import { Matrix } from "../../components/Matrix";
import { useShell } from "../../shell";
import { usePicture } from "../../usePicture";
import type { CourseProps } from "./CourseView";
import type { Attention, Seen } from "./orders";
import type { HeadRef } from "./state";
import { headView, hiddenIn } from "./weights";
import { nameOf, percent } from "./words";

/** The longer side of a small picture. */
const side = 56;

function SmallHead({
  seen,
  attention,
  head,
  palette,
  summary,
}: {
  seen: Seen;
  attention: Attention;
  head: number;
  palette: Palette;
  summary: string;
}) {
  const { theme } = useShell();
  const view = useMemo(() => headView(seen, attention, head), [seen, attention, head]);
  const { rows, cols } = view;
  const size = side / Math.max(rows, cols);
  const picture = usePicture({
    ...{ view, rows, cols, palette, isHidden: hiddenIn(attention) },
    cell: { width: size, height: size },
  });
  return <Matrix picture={picture} theme={theme} summary={summary} />;
}

export function HeadGrid({
  course,
  seen,
  layers,
  set,
  shown,
  palette,
}: CourseProps & { shown: HeadRef; palette: Palette }) {
  const name = useId();
  return (
    <div class="head-grid">
      {course.attentions.map((attention, i) => (
        <fieldset key={attention.path}>
          <legend>{nameOf(attention, layers)}</legend>
          {Array.from({ length: attention.heads }, (_, head) => {
            const mass = seen.masses[i]?.[head] ?? Number.NaN;
            return (
              <label key={head}>
                <input
                  type="radio"
                  name={name}
                  checked={shown.attention === i && shown.head === head}
                  onChange={() => set({ head: { attention: i, head }, cell: null })}
                />
                <SmallHead
                  {...{ seen, attention, head, palette }}
                  summary={`Head ${head + 1}, ${nameOf(attention, layers)}`}
                />
                <span class="number">
                  {head + 1}
                  {Number.isFinite(mass) && <span class="faint"> {percent(mass)}</span>}
                </span>
              </label>
            );
          })}
        </fieldset>
      ))}
    </div>
  );
}
