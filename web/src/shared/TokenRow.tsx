/** The numbered tokens of a sentence; if a query can be selected, each token is a button. */
import { shorten } from "#parts";

export function TokenRow({
  tokens,
  selected,
  written = tokens.length,
  onSelect,
}: {
  tokens: readonly string[];
  selected?: number;
  /** The index of the first token that the model has generated. */
  written?: number;
  onSelect?(index: number): void;
}) {
  return (
    <ol class="tokens">
      {tokens.map((token, i) => (
        <li key={i} class={i >= written ? "written-token" : undefined}>
          {onSelect ? (
            <button
              type="button"
              class="token"
              aria-pressed={i === selected}
              onClick={() => onSelect(i)}
            >
              <bdi>{shorten(token, 24)}</bdi>
            </button>
          ) : (
            <span class="token">
              <bdi>{shorten(token, 24)}</bdi>
            </span>
          )}
          <span class="token-number number">{i + 1}</span>
        </li>
      ))}
    </ol>
  );
}
