/** Every head of a task model. */

import { useMemo } from "preact/hooks";
import { format, npyBlob, npyOfAll } from "#parts";
import { exhibitOf } from "../../../shared/catalogue";
import { Term } from "../../../shared/Term";
import { AllHeads, BelowWords } from "../parts/AllHeads";
import { measures } from "./measures";
import { kindsOf, withoutWords } from "./selection";
import { useHeadsWorkspace } from "./workspace";

export function HeadsPanel() {
  const { state, selection, set } = useHeadsWorkspace();
  const { measure, order, ablated } = state;
  const { all, answer, shown } = selection;
  const { attentions, exhibit, text } = answer;
  const heads = useMemo(() => attentions.flatMap(({ measured }) => measured), [answer]);
  const causal = all.filter(({ attention }) => attention.isCausal);
  const axes = [attentions.length, attentions[0]?.heads ?? 0];
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">All heads</h2>
      <BelowWords {...{ order, heads }}>
        below: {measure === "places" && "attention on the "}
        {measure === "places" ? <Term name="answer positions" /> : measures[measure].name}
      </BelowWords>
      <AllHeads
        {...{ heads, look: state, measures, format, ablated }}
        causal={{
          size: causal[0]?.attention.rows.length ?? 0,
          has: (key) => causal.some(({ head }) => head.key === key),
        }}
        isWhole
        selected={shown.head.key}
        select={(head) => set({ head, cell: null })}
        saved={{
          ...{ title: exhibitOf(exhibit).name, text, without: withoutWords(selection) },
          file: `all-heads-${exhibit}`,
          // Heads of one kind of attention are equal in size.
          ...(kindsOf(all).length === 1 && {
            numbers: {
              npy: () =>
                npyBlob(
                  npyOfAll(
                    all.map(({ weights }) => weights),
                    axes,
                  ),
                ),
            },
          }),
        }}
      />
    </section>
  );
}
