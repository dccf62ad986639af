/** The built-in picture to denoise: smooth parts, edges, and textures that repeat. */

export interface GreyPicture {
  /** Row by row, 0 to 1. */
  readonly pixels: Float32Array;
  readonly width: number;
  readonly height: number;
}

const size = 128;
/** Each pixel is the mean of this many samples per side, so that edges are antialiased. */
const samples = 3;

const mod = (value: number, by: number) => value - by * Math.floor(value / by);
const mix = (a: number, b: number, t: number) => a + (b - a) * Math.max(0, Math.min(1, t));

/** Bricks of 12 x 6 with mortar between them. Every other row is shifted by half a brick. */
function brick(x: number, y: number): number {
  const row = Math.floor(y / 6);
  const along = mod(x + (row % 2) * 6, 12);
  return along < 1.5 || mod(y, 6) < 1.5 ? 0.72 : 0.42;
}

/** Sky, sun, a house with roof, bricks, door and window, a fence and a lawn. */
function shade(x: number, y: number): number {
  const fromSun = Math.sqrt((x - 104) ** 2 + (y - 24) ** 2);
  const sky = mix(0.5, 0.78, y / 96);
  const lawn = mix(0.5, 0.22, (y - 96) / 32);
  let grey = y < 96 ? sky : lawn;
  if (fromSun < 14) grey = mix(1, 0.72, (fromSun / 14) ** 2);

  const isWall = x >= 18 && x < 84 && y >= 50 && y < 104;
  if (isWall) grey = brick(x - 18, y - 50);
  const roof = (y - 20) * 1.35;
  if (y >= 20 && y < 52 && Math.abs(x - 51) < roof) {
    const row = Math.floor((y - 20) / 5);
    grey = mod(y - 20, 5) < 1.2 || mod(x + row * 4, 8) < 1 ? 0.12 : 0.3;
  }
  if (x >= 27 && x < 45 && y >= 62 && y < 80) {
    const isFrame =
      x < 29 || x >= 43 || y < 64 || y >= 78 || Math.abs(x - 36) < 1 || Math.abs(y - 71) < 1;
    grey = isFrame ? 0.95 : mix(0.15, 0.4, (x + y - 89) / 36);
  }
  if (x >= 58 && x < 74 && y >= 66 && y < 104) grey = mix(0.2, 0.1, (x - 58) / 16);
  if ((x - 70.5) ** 2 + (y - 86) ** 2 < 2.5) grey = 0.9;

  const along = mod(x, 8);
  const top = 88 + Math.abs(along - 3) * 1.5;
  const isPicket = along < 6 && y >= top && y < 116;
  const isRail = (y >= 94 && y < 97) || (y >= 108 && y < 111);
  if (x >= 86 && (isPicket || isRail)) grey = isPicket ? 0.9 : 0.8;
  return grey;
}

export function house(): GreyPicture {
  const pixels = new Float32Array(size * size);
  for (let p = 0; p < pixels.length; ++p) {
    let sum = 0;
    for (let s = 0; s < samples * samples; ++s) {
      const x = (p % size) + ((s % samples) + 0.5) / samples;
      const y = Math.floor(p / size) + (Math.floor(s / samples) + 0.5) / samples;
      sum += shade(x, y);
    }
    pixels[p] = sum / samples ** 2;
  }
  return { pixels, width: size, height: size };
}
