/** The area next to the settings: what is query, key, value and score, then pictures and tables. */
import type { ComponentChildren } from "preact";
import { Panel } from "../../shared/Panel";

export type RoleWords = Readonly<Record<"query" | "keys" | "values" | "score", ComponentChildren>>;

const roles = [
  ["query", "role-q"],
  ["keys", "role-k"],
  ["values", "role-v"],
  ["score", undefined],
] as const;

interface WorkProps {
  /** For screen readers. */
  title: string;
  words: RoleWords;
  /** Whether the results belong to an earlier input. */
  isStale?: boolean;
  children: ComponentChildren;
}

export function Work({ title, words, isStale = false, children }: WorkProps) {
  return (
    <div class={isStale ? "work column stale" : "work column"}>
      <h2 class="only-heard">{title}</h2>
      <Panel name="text">
        <dl class="roles small">
          {roles.map(([name, role]) => (
            <div key={name}>
              <dt class={role}>{name}</dt>
              <dd>{words[name]}</dd>
            </div>
          ))}
        </dl>
      </Panel>
      {children}
    </div>
  );
}
