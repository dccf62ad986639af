/** The room "Models" with attention weights that a program saved, alone and together with an open model. */
import { describe, expect, test } from "vitest";
import { filesOf, gpt2 } from "../js/checkpoints";
import { npy, npz } from "../js/zipped";
import { visits } from "./visits";
import { type Files, wordTokenizer, Yours } from "./yours";

const tiny: Files = { ...filesOf(gpt2()), "tokenizer.json": wordTokenizer(19) };

const [layers, heads, length] = [3, 4, 6];
const weights = Float32Array.from({ length: layers * heads * length ** 2 }, (_, i) => {
  const [row, col] = [Math.floor(i / length) % length, i % length];
  return col > row ? 0 : 1 / (row + 1);
});
const words = ["The", " ship", " left", " the", " harbour", "."];
const encoder = new TextEncoder();
const json = (value: unknown) => encoder.encode(JSON.stringify(value));
const attentions: Files = {
  "attentions.npz": npz(
    { arr_0: npy([layers, 1, heads, length, length], weights) },
    { deflate: true },
  ),
};

class WithFiles extends Yours {
  /** Waits until files are shown with `count` heads, and returns the element's description. */
  async heads(count = layers * heads) {
    await this.page.waitForFunction(
      (count) =>
        document.querySelector("heed-heads")?.shadowRoot?.querySelectorAll(".thumbnail canvas")
          .length === count,
      {},
      count,
    );
    return this.page.$eval("heed-heads", async (found) => {
      const element = found as HTMLElement & {
        error: Error | null;
        queries: readonly string[] | null;
        keys: readonly string[] | null;
        mask: unknown;
        updateComplete: Promise<void>;
      };
      await element.updateComplete;
      const { error, queries, keys, mask } = element;
      return { error: error?.message ?? null, queries, keys, mask };
    });
  }

  about(): Promise<string> {
    return this.text(".attention-file");
  }
}

describe("In chrome, saved attention weights", () => {
  const { enter } = visits(WithFiles, "chrome", { start: "#room=models&model=yours" });

  test("shows weights with their tokens, whichever comes first", async () => {
    const room = await enter("");
    await room.drop({ ...attentions, "tokens.json": json(words) });
    const both = { error: null, queries: words, keys: words, mask: null };
    expect(await room.heads()).toEqual(both);
    expect(await room.about()).toContain("3 layers, 4 heads each, 6 tokens");
    expect(await room.notices()).toBe("");

    // Alone, then with its tokens.
    await room.drop({
      "layers.npy": npy(
        [2, heads, length, length],
        weights.slice(0, weights.length - heads * length ** 2),
      ),
    });
    expect(await room.heads(2 * heads)).toMatchObject({ error: null, queries: null });
    expect(await room.about()).toContain("no tokens yet");
    await room.drop({ "tokens.json": json(words) });
    await expect.poll(async () => (await room.heads(2 * heads)).queries).toEqual(words);
    await room.click("A query sees no later key", ".attention-file");
    await expect.poll(async () => (await room.heads(2 * heads)).mask).toBe("causal");

    await room.click("Close this file", ".attention-file");
    await expect.poll(() => room.page.$("heed-heads")).toBeNull();
  });

  test("keeps what is open when a file is refused, and says why", async () => {
    const room = await enter("");
    await room.drop({ ...attentions, "tokens.json": json(words) });
    await room.heads();
    const before = await room.about();
    const broken = (attentions["attentions.npz"] as Uint8Array).slice();
    broken[60] = (broken[60] as number) ^ 255;
    for (const [files, why] of [
      [{ "broken.npz": broken }, /^broken\.npz cannot be shown: arr_0: header: expected /],
      [
        { ...attentions, "few.json": json(["a"]) },
        /^attentions\.npz and few\.json cannot be shown: tokens: queries: expected 6 tokens, as the weights have, got 1\.$/,
      ],
      [{ "tokens.json": json({ words }) }, /^tokens\.json cannot be shown: .*got "words"\.$/],
      [{ "model.pt.npz": encoder.encode("PK") }, /^model\.pt\.npz cannot be shown: /],
    ] as const) {
      await room.drop(files);
      await expect.poll(() => room.notices()).toMatch(why);
      expect(await room.about()).toBe(before);
      expect(await room.heads()).toMatchObject({ error: null, queries: words });
    }
    await room.drop(attentions);
    await expect.poll(() => room.notices()).toBe("");
  });

  test("shows them in place of an open model, which is back when they are closed", async () => {
    const room = await enter("&text=w3+w7+w11");
    await room.drop(tiny);
    const card = await room.opened();
    const tokens = await room.pieces();
    await room.drop({ ...attentions, "tokens.json": json(words) });
    await room.heads();
    expect(await room.page.$(".model-card, .work")).toBeNull();
    // Both stay while the person is elsewhere.
    await room.go("#room=learn");
    await expect.poll(() => room.page.$(".room.models")).toBeNull();
    await room.go("#room=models&model=yours&text=w3+w7+w11");
    expect(await room.heads()).toMatchObject({ error: null, queries: words });
    // The files of a model are not taken for weights.
    await room.drop({
      "config.json": tiny["config.json"] as Uint8Array,
      "model.safetensors": tiny["model.safetensors"] as Uint8Array,
    });
    await expect.poll(() => room.notices()).toMatch(/tokenizer\.json is not/);
    expect(await room.heads()).toMatchObject({ queries: words });
    expect(await room.violations()).toEqual([]);
    await room.click("Close this file", ".attention-file");
    await expect.poll(() => room.pieces()).toEqual(tokens);
    expect(await room.card()).toEqual(card);
  });
});
