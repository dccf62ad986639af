// A tokenizer of letters, for tests of models that read texts.

/** One token for each letter between a first and a last one; "#" is the mask, 4, and 1 is the padding. */
export const lettersOf = (vocabulary: number) => ({
  encode(text: string, { text_pair: other }: { text_pair?: string } = {}) {
    const of = (each: string) =>
      [...each].map((letter) =>
        letter === "#" ? 4 : 5 + (letter.charCodeAt(0) % (vocabulary - 5)),
      );
    const first = [2, ...of(text), 3];
    const second = other === undefined ? [] : [...of(other), 3];
    return {
      ids: [...first, ...second],
      token_type_ids: [...first.map(() => 0), ...second.map(() => 1)],
    };
  },
  decode: (ids: number[]) => ids.map((id) => String.fromCharCode(92 + id)).join(""),
  token_to_id: (token: string) => (token === "[MASK]" ? 4 : undefined),
});
