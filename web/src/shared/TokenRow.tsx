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
      {tokens.map((token, i) => {
        const props = { class: "token truncated", children: <bdi>{shorten(token, 24)}</bdi> };
        const choose = onSelect && (() => onSelect(i));
        return (
          <li key={i}>
            {choose ? (
              <button type="button" {...props} aria-pressed={i === selected} onClick={choose} />
            ) : (
              <span {...props} />
            )}
            <span class="token-number faint number">{i + 1}</span>
          </li>
        );
      })}
    </ol>
  );
}
