/** The numbered tokens of a sentence; if a query can be selected, each token is a button. */
import { shorten } from "#parts";

interface TokenRowProps {
  tokens: readonly string[];
  selected?: number;
  onSelect?(index: number): void;
}

export function TokenRow({ tokens, selected, onSelect }: TokenRowProps) {
  return (
    <ol class="tokens line">
      {tokens.map((token, i) => (
        <li key={i}>
          {onSelect ? (
            <button
              type="button"
              class="token truncated"
              aria-pressed={i === selected}
              onClick={() => onSelect(i)}
            >
              <bdi>{shorten(token, 24)}</bdi>
            </button>
          ) : (
            <span class="token truncated">
              <bdi>{shorten(token, 24)}</bdi>
            </span>
          )}
          <span class="token-number faint number">{i + 1}</span>
        </li>
      ))}
    </ol>
  );
}
