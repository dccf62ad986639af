/** Selects how weights are mapped to colours: the range, and the curve over that range. */
import type { ColourCurve, ColourRange } from "#parts";
import { Choice } from "../shared/Fields";

interface ColourChoiceProps {
  range: ColourRange;
  curve: ColourCurve;
  onChange(change: { range: ColourRange } | { curve: ColourCurve }): void;
}

export function ColourChoice({ range, curve, onChange }: ColourChoiceProps) {
  return (
    <div class="colour-choice line">
      <Choice
        label="Colours"
        value={range}
        choices={[
          ["absolute", "0 to 1"],
          ["head", "per head"],
          ["row", "per row"],
        ]}
        onChange={(range) => onChange({ range })}
      />
      <CurveChoice curve={curve} onChange={onChange} />
    </div>
  );
}

interface CurveChoiceProps {
  curve: ColourCurve;
  onChange(change: { curve: ColourCurve }): void;
}

export function CurveChoice({ curve, onChange }: CurveChoiceProps) {
  return (
    <Choice
      label="Curve"
      value={curve}
      choices={[
        ["linear", "linear"],
        ["sqrt", "√"],
        ["log", "log"],
      ]}
      onChange={(curve) => onChange({ curve })}
    />
  );
}
