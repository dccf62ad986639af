import { Slider } from "../../shared/Fields";
import { sliderPlaceOf, sliderValueAt } from "./state";

/** A slider with a logarithmic scale. */
export function LogSlider({
  limits: { min, max },
  value,
  onChange,
  ...props
}: Pick<Parameters<typeof Slider>[0], "label" | "limits" | "value" | "onChange">) {
  return (
    <Slider
      {...props}
      value={sliderPlaceOf(value)}
      limits={{ min: sliderPlaceOf(min), max: sliderPlaceOf(max) }}
      step={1}
      text={String(value)}
      onChange={(place) => onChange(sliderValueAt(place))}
    />
  );
}
