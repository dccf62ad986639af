/** Steps through a fixed list: back, where one is, next. */
export function Transport({
  index,
  count,
  title,
  go,
}: {
  index: number;
  count: number;
  title: string;
  go(index: number): void;
}) {
  return (
    <nav class="transport" aria-label="Steps">
      <button type="button" disabled={index === 0} onClick={() => go(index - 1)}>
        ← Back
      </button>
      <span>
        <span class="faint">
          Step <span class="number">{index + 1}</span> of {count}
        </span>{" "}
        <b>{title}</b>
      </span>
      <button type="button" disabled={index === count - 1} onClick={() => go(index + 1)}>
        Next →
      </button>
    </nav>
  );
}
