/** All heads of a model as small pictures, one row for each attention. The selected one is also drawn large. */
import { useMemo } from "preact/hooks";
import type { Palette } from "#parts";
import { HeadGrid, smallOf } from "../../picture/HeadGrid";
import { Legend } from "../../picture/Legend";
import { type Shares, weightsOf } from "../../shared/attended";
import { percent } from "../../shared/format";
import type { CourseProps } from "./course";
import type { CourseAttention } from "./messages";
import { type CourseHead, headFrom, headText } from "./state";
import { attentionNameOf, findersOf, findingShare } from "./words";

/** How many heads find the answer positions, at the shown step. */
function Finders({ snapshot }: Pick<CourseProps, "snapshot">) {
  const { finders, heads } = findersOf(snapshot);
  return (
    <p class="learn-finders small faint number">
      Heads that find the answer positions:{" "}
      <b>
        {finders} of {heads}
      </b>
      , with at least {percent(findingShare)} of their attention
    </p>
  );
}

export function CourseHeads(props: CourseProps & { shown: CourseHead; palette: Palette }) {
  const { attentions, snapshot, layers, set, shown, palette } = props;
  const rows = useMemo(() => {
    let count = 0;
    return attentions.map((attention) => ({
      title: attentionNameOf(attention, layers),
      heads: Array.from({ length: attention.heads }, () => count++),
    }));
  }, [attentions, layers]);
  const heads = useMemo(
    () =>
      rows.flatMap(({ title, heads }, i) => {
        const [attention, shares] = [
          attentions[i] as CourseAttention,
          snapshot.shares[i] as Shares,
        ];
        return heads.map((_, head) => {
          const view = weightsOf(attention, shares, head);
          const mass = snapshot.masses[i]?.[head] ?? Number.NaN;
          return {
            ...{ id: headText({ attention: i, head }), hides: view.hides, palette },
            ...{ small: smallOf(view), label: `${head + 1}` },
            value: Number.isFinite(mass) ? percent(mass) : "",
            name: `head ${head + 1}, ${title}`,
            about: `${Number.isFinite(mass) ? "attention on" : "no"} answer positions`,
          };
        });
      }),
    [rows, snapshot, palette],
  );
  return (
    <div class="head-grid">
      <HeadGrid
        {...{ rows, heads, side: 56, lines: 1, selected: headText(shown) }}
        isWhole
        select={(id) => set({ head: headFrom(id), cell: null })}
      />
      <Legend palette={palette} hasHidden={attentions.some(({ isCausal }) => isCausal)} />
      <Finders snapshot={snapshot} />
    </div>
  );
}
