/** Two heads side by side, and their difference. */
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { useWidth } from "../../../shared/useWidth";
import { HeadMap, useDifference, useHeadPicture } from "./HeadMap";
import type { NamedHead } from "./selection";
import { useHeadsWorkspace } from "./workspace";

export function Comparison({ shown, other }: { shown: NamedHead; other: NamedHead }) {
  const { restrictions } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const first = useHeadPicture(shown, width);
  const second = useHeadPicture(other, width);
  const difference = useDifference(shown, other, width);
  const less = `${shown.name} less ${other.name}`;
  return (
    <section class="comparison" aria-label={less}>
      {!hides(restrictions, "text") && (
        <p>
          <b class="more">Blue</b>: {shown.name} attends more. <b class="less">Orange</b>:{" "}
          {other.name} attends more.
        </p>
      )}
      <div class="compare-figure">
        <div ref={ref} class="scroll">
          {width > 0 && <HeadMap name="weights" title="Weights" of={shown} picture={first} />}
        </div>
        <div class="scroll">
          {width > 0 && <HeadMap name="other" title="Weights" of={other} picture={second} />}
        </div>
        <div class="scroll">
          {width > 0 && (
            <HeadMap
              name="difference"
              title="Difference"
              of={shown}
              note="first − second"
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
