// The pixels of an image, as a Vision Transformer reads them.

import { describe, refuse } from "../../core/error.js";
import type { Tensor } from "../../core/tensor.js";
import {
  type Check,
  checkArgument,
  instanceOf,
  isListOf,
  isNumber,
  isObject,
  isPositiveFloat,
} from "../../core/validate.js";
import { Fields, type HubConfig } from "../language/fields.js";
import { VisionTransformer } from "./visionTransformer.js";

/** The fields of ImageData that are read here: red, green, blue and alpha from 0 to 255, pixel by pixel, row by row. */
export interface ImageLike {
  /** [height * width * 4], from 0 to 255. */
  readonly data: ArrayLike<number>;
  /** In pixels. */
  readonly width: number;
  /** In pixels. */
  readonly height: number;
}

/** The numbers of a pixel that a model reads: red, green and blue. */
const colours = 3;
/** The numbers of a pixel in an image: the colours and alpha. */
const numbersOfPixel = 4;

const isModel = instanceOf("a VisionTransformer", VisionTransformer);
const isImage: Check = {
  expected: "an image with data, width and height, such as ImageData",
  accepts: (value) => isObject(value) && isObject(value.data),
};

/** Reads a number for each colour. */
function perColour(fields: Fields, name: string, check: Check): number[] {
  const expected = `a list of ${colours}, each ${check.expected}`;
  const accepts = (value: unknown) => isListOf(value, check.accepts) && value.length === colours;
  return fields.read(name, { expected, accepts }, [0.5, 0.5, 0.5]);
}

/**
 * Returns an image in the form that the model reads: each colour times the rescale factor, minus
 * its mean, divided by its standard deviation. Alpha is ignored. The image must have the model's
 * size: `drawImage` of a canvas resizes it. Use:
 *
 *     const { imageSize } = model.config;
 *     context.drawImage(picture, 0, 0, imageSize, imageSize);
 *     const pixels = pixelsOf(model, context.getImageData(0, 0, imageSize, imageSize), preprocessor);
 *
 * @param preprocessor the content of the model's preprocessor_config.json, of which `do_rescale`,
 *   `rescale_factor`, `do_normalize`, `image_mean` and `image_std` are used. By default the factor
 *   is 1 / 255, and means and deviations are 0.5
 * @returns float32 [3, S, S]
 * @throws HeedError "shape" for an image of another size; "option" for a field of the preprocessor,
 *   which it names, for a number or a pixel that is not finite in float32, and for a model without
 *   three channels
 * @returns [3, height, width]
 * @example
 * ```ts
 * const config = { model_type: "vit", image_size: 8, patch_size: 4, hidden_size: 16, intermediate_size: 32,
 *   num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new VisionTransformer(heed, config);
 * const image = { width: 8, height: 8, data: new Uint8Array(8 * 8 * 4).fill(255) }; // an ImageData in a page
 * console.log(pixelsOf(model, image).shape); // prints: [ 3, 8, 8 ]
 * ```
 */
export function pixelsOf(
  model: VisionTransformer,
  image: ImageLike,
  preprocessor: HubConfig = {},
): Tensor {
  checkArgument("model", model, isModel);
  checkArgument("image", image, isImage);
  const { channels, imageSize } = model.config;
  if (channels !== colours)
    throw refuse("option", "model", `a model with ${colours} channels`, `one with ${channels}`);
  const { data, width, height } = image;
  const got = `${describe(width)} x ${describe(height)}`;
  if (width !== imageSize || height !== imageSize)
    throw refuse("shape", "image", `${imageSize} x ${imageSize} pixels`, got);
  const area = imageSize ** 2;
  if (data.length !== numbersOfPixel * area)
    throw refuse("shape", "image.data", `${numbersOfPixel * area} numbers`, describe(data.length));
  const fields = new Fields(preprocessor, "preprocessor");
  const given = fields.positive("rescale_factor", 1 / 255);
  const factor = fields.flag("do_rescale", true) ? given : 1;
  const means = perColour(fields, "image_mean", isNumber);
  const deviations = perColour(fields, "image_std", isPositiveFloat);
  const isNormalised = fields.flag("do_normalize", true);
  const pixels = new Float32Array(colours * area);
  for (let colour = 0; colour < colours; ++colour) {
    const mean = isNormalised ? (means[colour] as number) : 0;
    const deviation = isNormalised ? (deviations[colour] as number) : 1;
    for (let i = 0; i < area; ++i) {
      const place = numbersOfPixel * i + colour;
      const value = data[place] as number;
      if (!isNumber.accepts(value)) {
        const got = `${describe(value)} at place ${place}`;
        throw refuse("option", "image.data", "finite float32 numbers", got);
      }
      const pixel = (value * factor - mean) / deviation;
      if (!isNumber.accepts(pixel)) {
        const got = `${pixel} for ${value} at place ${place} of the image`;
        throw refuse("option", "preprocessor", "numbers that give finite float32 pixels", got);
      }
      pixels[colour * area + i] = pixel;
    }
  }
  return model.heed.tensor(pixels, [colours, imageSize, imageSize]);
}
