// The pixels of images for Vision Transformers: each compared with the formula in double precision, and refused images.

import { type HubConfig, pixelsOf, VisionTransformer } from "heed/models";
import { describe, expect, test } from "vitest";
import { vit } from "../checkpoints.js";
import { engine, refusal } from "../engine.js";
import { expectClose } from "../values.js";

describe("the pixels of an image", () => {
  const heed = engine({ threads: 1 });
  const config = { ...vit("ViTForImageClassification").config, image_size: 4, patch_size: 2 };
  const data = Uint8ClampedArray.from({ length: 64 }, (_, i) => (37 * i) % 256);
  const image = { data, width: 4, height: 4 };

  test.each<[string, HubConfig | undefined, (value: number, colour: number) => number]>([
    ["without a preprocessor", undefined, (value) => (value / 255 - 0.5) / 0.5],
    [
      "with means and deviations",
      { image_mean: [0.1, 0.2, 0.3], image_std: [0.5, 0.25, 2], rescale_factor: 0.01 },
      (value, c) => (value * 0.01 - ([0.1, 0.2, 0.3][c] as number)) / ([0.5, 0.25, 2][c] as number),
    ],
    [
      "that are only rescaled",
      { do_normalize: false, size: { height: 4, width: 4 } },
      (value) => value / 255,
    ],
    ["that are only normalised", { do_rescale: false }, (value) => (value - 0.5) / 0.5],
  ])("%s", (_, preprocessor, wanted) => {
    heed().scope(() => {
      const model = new VisionTransformer(heed(), config);
      const pixels = pixelsOf(model, image, preprocessor);
      const expected = [0, 1, 2].flatMap((c) =>
        Array.from({ length: 16 }, (_, i) => wanted(data[4 * i + c] as number, c)),
      );
      expectClose(pixels, [3, 4, 4], expected);
      expect(model.forward(pixels).output.shape).toEqual([1, 5, 12]);
    });
  });

  test("of another kind are refused", () => {
    heed().scope(() => {
      const model = new VisionTransformer(heed(), config);
      const message = (...args: unknown[]) =>
        refusal(() => pixelsOf(...(args as [never, never]))).message;
      expect(message(model, { ...image, width: 8 })).toBe(
        "image: expected 4 x 4 pixels, got 8 x 4",
      );
      expect(message(model, { ...image, data: data.slice(16) })).toBe(
        "image.data: expected 64 numbers, got 48",
      );
      expect(message(model, { ...image, width: "4" })).toBe(
        'image: expected 4 x 4 pixels, got "4" x 4',
      );
      const finite = "image.data: expected finite float32 numbers";
      for (const [wrong, got] of [
        [new Array(64), "undefined at place 0"],
        [Array.from(data, String), '"0" at place 0'],
        [new BigUint64Array(64), "0n at place 0"],
        [Array.from(data, (value, i) => (i === 9 ? Number.NaN : value)), "NaN at place 9"],
        [Array.from(data, (value, i) => (i === 5 ? 1e39 : value)), "1e+39 at place 5"],
      ] as const)
        expect(message(model, { ...image, data: wrong })).toBe(`${finite}, got ${got}`);
      const pixels = "preprocessor: expected numbers that give finite float32 pixels";
      expect(message(model, image, { rescale_factor: 3e38 })).toBe(
        `${pixels}, got ${148 * 6e38} for 148 at place 4 of the image`,
      );
      expect(message(model, image, { rescale_factor: 1e300 })).toBe(
        "preprocessor.rescale_factor: expected a positive float32 number, got 1e+300",
      );
      expect(message(model, 3)).toMatch(/^image: expected an image with data, width and height/);
      expect(message({}, image)).toMatch(/^model: expected a VisionTransformer/);
      const three = "a list of 3, each a positive float32 number";
      expect(message(model, image, { image_std: [1, 0, 1] })).toBe(
        `preprocessor.image_std: expected ${three}, got [1, 0, 1]`,
      );
      expect(message(model, image, { image_std: [1e-300, 1, 1] })).toBe(
        `preprocessor.image_std: expected ${three}, got [1e-300, 1, 1]`,
      );
      expect(message(model, image, { image_mean: [1] })).toMatch(
        /^preprocessor.image_mean: expected/,
      );
      const grey = new VisionTransformer(heed(), { ...config, num_channels: 1 });
      expect(message(grey, image)).toBe("model: expected a model with 3 channels, got one with 1");
    });
  });
});
