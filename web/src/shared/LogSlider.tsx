import { Slider } from "./Fields";

/** The place of a value on a slider with `perDecade` steps to a factor of ten. */
export function sliderPlaceOf(value: number, perDecade = 20): number {
  return Math.round(perDecade * Math.log10(value));
}

export function sliderValueAt(place: number, perDecade = 20): number {
  return Number((10 ** (place / perDecade)).toPrecision(2));
}

/** A slider with a logarithmic scale. */
export function LogSlider({
  limits: { min, max },
  value,
  perDecade,
  onChange,
  ...props
}: Pick<Parameters<typeof Slider>[0], "label" | "limits" | "value" | "onChange"> & {
  perDecade?: number;
}) {
  return (
    <Slider
      {...props}
      value={sliderPlaceOf(value, perDecade)}
      limits={{ min: sliderPlaceOf(min, perDecade), max: sliderPlaceOf(max, perDecade) }}
      step={1}
      text={String(value)}
      onChange={(place) => onChange(sliderValueAt(place, perDecade))}
    />
  );
}
