/** Two heads side by side, and their difference. */
import { CompareFigure, DifferenceColours } from "../parts/CompareFigure";
import { DifferenceMap, HeadMap } from "./HeadMap";
import type { NamedHead } from "./selection";
import { useHeadsWorkspace } from "./workspace";

export function Comparison({ shown, other }: { shown: NamedHead; other: NamedHead }) {
  return (
    <section class="comparison" aria-label={`${shown.name} less ${other.name}`}>
      <DifferenceColours
        more={`${shown.name} attends more.`}
        less={`${other.name} attends more.`}
      />
      <CompareFigure
        maps={[
          (width) => <HeadMap name="weights" of={shown} width={width} />,
          (width) => <HeadMap name="other" of={other} width={width} />,
          (width) => <DifferenceMap name="difference" of={shown} {...{ other, width }} />,
        ]}
      />
    </section>
  );
}

export function ComparePanel() {
  const { shown, other } = useHeadsWorkspace().selection;
  return other && <Comparison shown={shown} other={other} />;
}
