/** How the next token is drawn: temperature, top-p, top-k and the seed. */
import { samplingLimits as allowed, type Sampling } from "./candidates";
import { NumberField, Slider } from "./Fields";

type Drawn = Sampling & { readonly seed: number };

export function SamplingFields({
  temperature,
  topK,
  topP,
  seed,
  onChange,
}: Drawn & { onChange(change: Partial<Drawn>): void }) {
  return (
    <>
      <Slider
        label="Temperature"
        value={temperature}
        limits={allowed.temperature}
        step={0.05}
        text={temperature === 0 ? "0: the likeliest" : temperature.toFixed(2)}
        onChange={(temperature) => onChange({ temperature })}
      />
      <Slider
        label="Top-p"
        value={topP}
        limits={allowed.topP}
        step={0.05}
        text={topP === 1 ? "1: all" : topP.toFixed(2)}
        onChange={(topP) => onChange({ topP })}
      />
      <NumberField
        label="Top-k (0: all)"
        value={topK}
        limits={allowed.topK}
        onChange={(topK) => onChange({ topK })}
      />
      <NumberField
        label="Seed"
        value={seed}
        limits={allowed.seed}
        onChange={(seed) => onChange({ seed })}
      />
    </>
  );
}
