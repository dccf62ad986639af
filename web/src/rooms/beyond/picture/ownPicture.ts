/** Decodes a picture file to grey pixels. The file does not leave the page. */
import type { GreyPicture } from "./drawing";

const longestSide = 256;

export async function readPicture(file: File): Promise<GreyPicture> {
  const bitmap = await createImageBitmap(file);
  try {
    const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height));
    const width = Math.max(1, Math.round(bitmap.width * scale));
    const height = Math.max(1, Math.round(bitmap.height * scale));
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error("the browser gives no canvas");
    context.imageSmoothingQuality = "high";
    // Transparent pixels become white.
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    context.drawImage(bitmap, 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    // Luma of ITU-R BT.601.
    const pixels = Float32Array.from({ length: width * height }, (_, i) => {
      const [r, g, b] = data.subarray(4 * i, 4 * i + 3) as unknown as [number, number, number];
      return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
    });
    return { pixels, width, height };
  } finally {
    bitmap.close();
  }
}
