/** One model: its answer, one head drawn large, and all heads as small pictures. */
import { useWeightPalette } from "../../picture/useWeightPalette";
import { CourseHeads } from "./CourseHeads";
import type { CourseProps } from "./course";
import { AnswerView } from "./ExampleView";
import { LargeHead } from "./LargeHead";
import { shownHead } from "./weights";
import { headsWords } from "./words";

/** The maximum number of columns at which the small pictures fit next to the large one. */
const fewColumns = 18;

export function CourseView(props: CourseProps) {
  const { course, isPair, attentions, snapshot, recent, state, set } = props;
  const palette = useWeightPalette(state);
  // A long input needs the whole width to be readable.
  const isLong = attentions.some(({ columns }) => columns.length > fewColumns);
  const shown = shownHead(attentions, recent, state.head);
  return (
    <section
      class={isLong ? "course column long" : "course column"}
      aria-label={headsWords(course.heads)}
    >
      {isPair && (
        <h2>
          {headsWords(course.heads, true)}{" "}
          <span class="faint number">{course.parameters.toLocaleString("en")} parameters</span>
        </h2>
      )}
      <AnswerView snapshot={snapshot} />
      <LargeHead {...props} shown={shown} palette={palette} />
      <CourseHeads {...props} shown={shown} palette={palette} />
      <p class="learn-follow">
        {state.head !== null && (
          <button type="button" class="link" onClick={() => set({ head: null, cell: null })}>
            Show the best head on the answer positions
          </button>
        )}
      </p>
    </section>
  );
}
