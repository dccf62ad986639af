/** Two heads side by side, and their difference. */

import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { useWidth } from "../../shared/useWidth";
import { HeadMap, useDifference, useHeadPicture } from "./HeadMap";
import type { NamedHead } from "./selection";
import { useHeadsWorkspace } from "./workspace";

function Comparison({ shown, other }: { shown: NamedHead; other: NamedHead }) {
  const { restrictions } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const second = useHeadPicture(other, width);
  const difference = useDifference(shown, other, width);
  return (
    <section class="comparison" aria-labelledby="compare-title">
      <h2 id="compare-title">
        {shown.name.replace(/^./, (first) => first.toUpperCase())} less {other.name}
      </h2>
      {!hides(restrictions, "text") && (
        <p>
          <b class="more">Blue</b>: {shown.name} attends more. <b class="less">Orange</b>:{" "}
          {other.name} attends more. Where both attend equally, the cell has the colour of the page.
        </p>
      )}
      <div class="compare-figure">
        <div ref={ref} class="scroll">
          {width > 0 && <HeadMap name="other" title="Weights" of={other} picture={second} />}
        </div>
        <div class="scroll">
          {width > 0 && (
            <HeadMap
              name="difference"
              title="Difference"
              of={shown}
              note={`${shown.name} less ${other.name}`}
              picture={difference}
            />
          )}
        </div>
      </div>
    </section>
  );
}

export function ComparePanel() {
  const { selection } = useHeadsWorkspace();
  const { shown, other } = selection;
  return other && <Comparison shown={shown} other={other} />;
}
