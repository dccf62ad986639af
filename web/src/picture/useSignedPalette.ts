/** The palette of differences in the page's theme. */
import { useMemo } from "preact/hooks";
import { type MatrixView, type Palette, rangeOf, signedPalette } from "#parts";
import { useShell } from "../shared/shell";

export function useSignedPalette(difference: MatrixView): Palette {
  const { theme } = useShell();
  return useMemo(() => {
    const [low, high] = rangeOf(difference) ?? [0, 1];
    return signedPalette(Math.max(-low, high), theme);
  }, [difference, theme]);
}
