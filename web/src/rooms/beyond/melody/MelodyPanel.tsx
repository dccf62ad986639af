/** A melody whose frames attend to one another: repeated parts become stripes. */
import { useCallback, useMemo } from "preact/hooks";
import { formatWeight } from "#parts";
import { CurveChoice } from "../../../picture/ColourChoice";
import { Choice, NumberField } from "../../../shared/Fields";
import { LogSlider } from "../../../shared/LogSlider";
import { Panel } from "../../../shared/Panel";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { fieldsOf } from "../../../shared/settings";
import { useFootnote } from "../../../shared/shell";
import { Transport } from "../../../shared/Transport";
import { useReducedMotion } from "../../../shared/useMedia";
import { useAnswer } from "../../../worker/engineClient";
import { FileField } from "../FileField";
import { StrongestTable } from "../NamedNumbers";
import { type OwnProps, settings, type TuneName } from "../state";
import { type RoleWords, Work } from "../Work";
import { FrameMaps, usualFrames } from "./FrameMaps";
import { usePlayer } from "./player";
import type { Melody } from "./solve";
import { rate, readSound, type Sound, timeOf } from "./sound";

const tunes: readonly (readonly [TuneName, string])[] = [
  ["round", "Frère Jacques"],
  ["seed", "random"],
];
const rowsShown = 10;

const loudness = "how loud each half tone is in two tenths of a second";
const roleWords: RoleWords = {
  query: `a frame: ${loudness}, minus the mean frame`,
  keys: "all frames, minus the mean frame",
  values: `all frames: ${loudness}`,
  score: "the cosine of query and key ÷ temperature",
};

function Controls({ state, set, own, onOwn }: OwnProps<Sound>) {
  const { tune } = state;
  const field = fieldsOf(settings, { state, set });
  return (
    <SettingsPanel look={<CurveChoice curve={state.curve} onChange={set} />}>
      {!own && (
        <Choice
          label="Melody"
          value={tune}
          choices={tunes}
          onChange={(tune) => set({ tune, frame: 0 })}
        />
      )}
      {!own && tune === "seed" && <NumberField label="Seed" {...field("tuneSeed")} />}
      <LogSlider label="Temperature" {...field("temperature")} />
      <FileField
        label="Your own sound"
        accept="audio/*"
        expected="a sound, such as WAV, MP3 or Ogg"
        note="Stays in this page. The first 20 seconds."
        describe={({ samples }) => `${(samples.length / rate).toFixed(1)} seconds are shown.`}
        own={own}
        backLabel="Back to our melodies"
        read={readSound}
        onRead={onOwn}
      />
    </SettingsPanel>
  );
}

function Strongest({ melody, frame }: { melody: Melody | null; frame: number }) {
  const frames = melody?.frames ?? usualFrames;
  const weights = melody?.weights.subarray(frame * frames, (frame + 1) * frames);
  return (
    <StrongestTable
      title={`What ${timeOf(frame)} attends to most`}
      columns={["frame", "at", "weight"]}
      {...{ weights, count: Math.min(rowsShown, frames) }}
      cells={(frame, weight) => (
        <>
          <th scope="row">{frame + 1}</th>
          <td>{timeOf(frame)}</td>
          <td data-column="weight">{formatWeight(weight)}</td>
        </>
      )}
    />
  );
}

export function MelodyPanel(props: OwnProps<Sound>) {
  const { state, set, own } = props;
  const { tune, tuneSeed: seed, temperature } = state;
  const asked = useMemo(() => (own ? null : { tune, seed }), [own, tune, seed]);
  const composed = useAnswer("tune", asked);
  const sound = own ?? composed.answer;
  const request = useMemo(() => sound && { sound, temperature }, [sound, temperature]);
  const compared = useAnswer("melody", request);
  const { answer } = compared;
  const failure = compared.failure ?? composed.failure;
  const melody = answer?.id === sound?.id ? answer : null;
  useFootnote(melody && `${melody.frames} frames compared in ${melody.milliseconds.toFixed(1)} ms`);
  const reduced = useReducedMotion();
  const frames = melody?.frames ?? usualFrames;
  const frame = Math.min(state.frame, frames - 1);
  const go = useCallback((frame: number) => set({ frame }), [set]);
  const live = usePlayer({ sound, frames, frame, follows: !reduced, go });
  return (
    <>
      <Controls {...props} />
      <Work title="Attention in a melody" words={roleWords}>
        <div class="beside column">
          <Panel name="picture">
            <div class="stack column">
              <Transport
                {...{ count: frames, index: frame, go, live, title: timeOf(frame) }}
                label="Melody"
                unit="Frame"
              />
              <FrameMaps melody={melody} state={state} seek={live.seek} />
              {failure && <p role="status">{failure}</p>}
            </div>
          </Panel>
          <Panel name="weights">
            <Strongest melody={melody} frame={frame} />
          </Panel>
        </div>
      </Work>
    </>
  );
}
