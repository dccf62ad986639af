/** The name of the shown head, the button that ablates or restores it, and how heads are ablated. */
import type { ComponentChildren } from "preact";
import type { Ablated, Ablation } from "../../../shared/ablation";
import { hides } from "../../../shared/restrictions";
import type { Setter } from "../../../shared/room";
import { useShell } from "../../../shared/shell";
import { Term } from "../../../shared/Term";

interface HeadBarProps {
  name: string;
  /** The kind of the head, if it has a name. */
  kind?: string | null;
  /** The name of the head in links. */
  head: string;
  state: Ablated;
  set: Setter<Ablated>;
  children?: ComponentChildren;
}

export function HeadBar({ name, kind = null, head, state, set, children }: HeadBarProps) {
  const { restrictions } = useShell();
  const { ablated, ablation } = state;
  const isAblated = ablated.includes(head);
  const change = () =>
    set(({ ablated }) => {
      const others = ablated.filter((key) => key !== head);
      return { ablated: isAblated ? others : [...others, head] };
    });
  return (
    <div class="head-bar line">
      <h2 id="one-head-title">
        {name.replace(/^./, (first) => first.toUpperCase())}
        {kind && <span class="faint"> · {kind}</span>}
      </h2>
      <span class="ablate">
        <button type="button" class="ablate-head" disabled={restrictions.lock} onClick={change}>
          {isAblated ? "Restore" : "Ablate"}
          <span class="wide-only"> this head</span>
        </button>
        <select
          aria-label="Output of ablated heads"
          disabled={restrictions.lock}
          value={ablation}
          onChange={({ currentTarget }) => set({ ablation: currentTarget.value as Ablation })}
        >
          <option value="zero">zero</option>
          <option value="mean">mean</option>
        </select>
      </span>
      {children}
    </div>
  );
}

interface AblationHelpProps {
  ablation: Ablation;
  texts: string;
  children?: ComponentChildren;
}

/**
 * @param texts the texts over whose positions means are
 * @param children more about these texts
 */
export function AblationHelp({ ablation, texts, children }: AblationHelpProps) {
  const { restrictions } = useShell();
  if (hides(restrictions, "text")) return null;
  return (
    <div class="faint ablation-help small prose">
      <Term name="ablation">Ablation</Term>:{" "}
      {ablation === "zero"
        ? "the output of an ablated head is zero at every position."
        : `the output of an ablated head is, at every position, its mean over all positions of ${texts}.`}
      {ablation === "mean" && children}
    </div>
  );
}
