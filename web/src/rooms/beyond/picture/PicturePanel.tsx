/** Denoising as attention: each pixel becomes a weighted mean of pixels. */
import { useCallback, useMemo } from "preact/hooks";
import { format } from "#parts";
import { NumberField, Slider } from "../../../shared/Fields";
import { LogSlider } from "../../../shared/LogSlider";
import { Panel } from "../../../shared/Panel";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { fieldsOf } from "../../../shared/settings";
import { useFootnote } from "../../../shared/shell";
import { Term } from "../../../shared/Term";
import { usePointerWords } from "../../../shared/useMedia";
import { useAnswer } from "../../../worker/engineClient";
import { FileField } from "../FileField";
import { type OwnProps, type PanelProps, type Pixel, settings } from "../state";
import { Work } from "../Work";
import type { Denoised } from "./denoise";
import type { GreyPicture } from "./drawing";
import { GreyCanvas } from "./GreyCanvas";
import { roleWords, versionNames } from "./methods";
import { readPicture } from "./ownPicture";
import { PixelWeights } from "./PixelWeights";

const square = (radius: number) => `${2 * radius + 1} × ${2 * radius + 1}`;
const decimals = (value: number) => value.toFixed(2);

const sliders = [
  ["noise", "Noise", 0.01, decimals],
  ["patch", "Patch", 1, square],
  ["window", "Window", 1, square],
  ["h", "h (non-local means)", 0.01, decimals],
] as const;

function Controls({ state, set, own, onOwn }: OwnProps<GreyPicture>) {
  const field = fieldsOf(settings, { state, set });
  return (
    <SettingsPanel>
      {sliders.map(([name, label, step, text]) => (
        <Slider key={name} {...{ label, step, text: text(state[name]) }} {...field(name)} />
      ))}
      <LogSlider label="Tone (bilateral)" {...field("tone")} />
      <NumberField label="Seed" {...field("grain")} />
      <FileField
        label="Your own picture"
        accept="image/*"
        expected="a picture, such as PNG, JPEG or WebP"
        note="Stays in this page. Grey, at most 256 × 256."
        describe={({ width, height }) => `shown in grey, ${width} × ${height} pixels.`}
        own={own}
        backLabel="Back to our drawing"
        read={readPicture}
        onRead={onOwn}
      />
    </SettingsPanel>
  );
}

function Greys(
  props: PanelProps & { answer: Denoised | null; size: Pick<GreyPicture, "width" | "height"> },
) {
  const { state, set, answer, size } = props;
  const { pixel, window, patch } = state;
  const onPick = useCallback((pixel: Pixel) => set({ pixel }), [set]);
  return (
    <div class="greys">
      {versionNames.map(([name, label]) => (
        <GreyCanvas
          key={name}
          {...{ name, label, ...size, pixel, window, patch, onPick }}
          grey={answer?.pictures[name] ?? null}
          hasCursor={name === "noisy"}
        >
          {label}
          <span class="faint number" data-psnr={name}>
            {answer && name !== "clean" ? `PSNR ${format(answer.psnr[name], 2)} dB` : "\u00a0"}
          </span>
        </GreyCanvas>
      ))}
    </div>
  );
}

export function PicturePanel(props: OwnProps<GreyPicture>) {
  const { state, set, own } = props;
  const { noise, grain, patch, window, h, tone } = state;
  const settings = { own, noise, grain, patch, window, h, tone };
  const request = useMemo(() => settings, Object.values(settings));
  const { answer, request: answered, failure } = useAnswer("denoise", request);
  const { Click } = usePointerWords();
  useFootnote(answer && `all means computed in ${answer.milliseconds.toFixed(1)} ms`);
  const { width, height } = answer ?? own ?? { width: 128, height: 128 };
  const { row, col } = state.pixel;
  const pixel = { row: Math.min(row, height - 1), col: Math.min(col, width - 1) };
  const shown = { state: { ...state, pixel }, set };
  return (
    <>
      <Controls {...props} />
      <Work
        title="Attention among pixels"
        words={roleWords[state.method]}
        isStale={answer !== null && answered !== null && answered.own !== own}
      >
        <Panel name="picture">
          <Greys {...shown} answer={answer} size={{ width, height }} />
          {failure && <p role="status">{failure}</p>}
          <p class="faint">
            {Click} a pixel: squares mark its window and patch. The higher the <Term name="PSNR" />,
            the better.
          </p>
        </Panel>
        <Panel name="weights">
          <PixelWeights {...shown} request={request} />
        </Panel>
      </Work>
    </>
  );
}
