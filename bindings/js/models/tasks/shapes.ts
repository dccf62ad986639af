// The task of shapes: small grey-scale pictures, drawn with arithmetic that gives the same result on all machines.

import { isShare, isWholeNumber } from "../../core/validate.js";
import type { Generator } from "../../nn/random.js";
import type { Picture, Task } from "../examples.js";
import { patchSize } from "../modelConfig.js";
import { below, between, choose, share } from "./draw.js";
import { drawFrom, withDefaults } from "./task.js";

export type ShapeOptions = {
  /** The side of a picture in pixels, a multiple of the patch size; 24 by default. */
  size: number;
  /** The maximum magnitude of the noise of a pixel; 0.08 by default. */
  noise: number;
  /** The maximum number of pixels that are replaced by random ones; 6 by default. */
  speckles: number;
};

const defaults: ShapeOptions = { size: 24, noise: 0.08, speckles: 6 };
const checks = {
  size: {
    expected: `a multiple of ${patchSize} from 12 to 256`,
    accepts: (value: unknown) =>
      isWholeNumber(12, 256).accepts(value) && (value as number) % patchSize === 0,
  },
  noise: isShare,
  speckles: isWholeNumber(0, 256),
};

interface Form {
  /** Whether the shape covers a point. Its centre is (0, 0), and all its points are within 1.15 of it. */
  covers(x: number, y: number): boolean;
  /** The largest turn, in 32nds of the tangent of half the angle. Two different turns never look the same. */
  readonly turns: number;
}

const forms: Readonly<Record<string, Form>> = {
  bar: { covers: (x, y) => Math.abs(x) <= 1.1 && Math.abs(y) <= 0.25, turns: 31 },
  cross: {
    covers(x, y) {
      const [near, far] = [Math.min(Math.abs(x), Math.abs(y)), Math.max(Math.abs(x), Math.abs(y))];
      return near <= 0.28 && far <= 1;
    },
    turns: 13,
  },
  disc: { covers: (x, y) => x * x + y * y <= 1, turns: 0 },
  ring: { covers: (x, y) => x * x + y * y <= 1 && x * x + y * y >= 0.36, turns: 0 },
  square: { covers: (x, y) => Math.max(Math.abs(x), Math.abs(y)) <= 0.8, turns: 13 },
  // The triangle is equilateral, with corners at a distance of 1.1 from the centre.
  triangle: {
    covers: (x, y) => y >= -0.55 && Math.sqrt(3) * Math.abs(x) + y <= 1.1,
    turns: 18,
  },
};
const reach = 1.15;
const labels = Object.keys(forms);

/** A shape with its position and size, in quarters of a pixel. */
interface Shape {
  readonly label: string;
  readonly radius: number;
  readonly x: number;
  readonly y: number;
  readonly turn: number;
}

function drawShape(random: Generator, size: number): Shape {
  const label = choose(random, labels);
  const { turns } = forms[label] as Form;
  const radius = between(random, Math.ceil((size * 4) / 6), Math.floor((size * 4) / 3));
  const margin = Math.ceil(radius * reach);
  const place = () => between(random, margin, size * 4 - margin);
  return { label, radius, x: place(), y: place(), turn: between(random, -turns, turns) };
}

/** The number of samples of a pixel along each side. */
const samples = 4;

/** The proportion of each pixel that is covered. */
function coverage({ label, radius, x, y, turn }: Shape, size: number): number[] {
  const form = forms[label] as Form;
  // Uses rational points of the circle, because sines and cosines differ between browsers.
  const t = turn / 32;
  const [cos, sin] = [(1 - t * t) / (1 + t * t), (2 * t) / (1 + t * t)];
  const isFar = (distance: number) => Math.abs(distance) > radius * reach + 4;
  return Array.from({ length: size * size }, (_, pixel) => {
    if (isFar(4 * (pixel % size) - x) || isFar(4 * Math.floor(pixel / size) - y)) return 0;
    let count = 0;
    for (let sample = 0; sample < samples * samples; sample++) {
      const column = (pixel % size) + ((sample % samples) + 0.5) / samples;
      const row = Math.floor(pixel / size) + (Math.floor(sample / samples) + 0.5) / samples;
      const [u, v] = [(4 * column - x) / radius, (4 * row - y) / radius];
      if (form.covers(cos * u + sin * v, cos * v - sin * u)) count++;
    }
    return count / samples ** 2;
  });
}

/** The task of shapes. Each combination of a shape, a position, a size and a turn belongs to one split. */
export function shapes(given: Partial<ShapeOptions> = {}): Task<Picture> {
  const options = withDefaults("shapes", defaults, given, checks);
  const { size, noise, speckles } = options;
  return {
    name: "shapes",
    about: "Say which shape is on a picture.",
    kind: "picture",
    options,
    vocabulary: { source: [], target: labels },
    longest: { source: (size / patchSize) ** 2, target: 1 },
    generate(random, split) {
      const shape = drawFrom(
        "shapes",
        split,
        () => drawShape(random, size),
        ({ label, radius, x, y, turn }) => [label, radius, x, y, turn].join(" "),
      );
      const shares = coverage(shape, size);
      const dark = 0.3 * share(random);
      const bright = dark + 0.35 + (0.65 - dark) * share(random);
      const pixels = Float32Array.from(shares, (covered) => {
        const clean = dark + (bright - dark) * covered;
        const noisy = clean + noise * (2 * share(random) - 1);
        return Math.round(Math.min(1, Math.max(0, noisy)) * 255) / 255;
      });
      for (let left = between(random, 0, speckles); left > 0; left--)
        pixels[below(random, pixels.length)] = below(random, 256) / 255;
      const covered = shares.map((part) => part >= 0.5);
      return { kind: "picture", pixels, width: size, height: size, label: shape.label, covered };
    },
  };
}
