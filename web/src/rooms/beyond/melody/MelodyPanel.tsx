/** A melody whose frames attend to one another: repeated parts become stripes. */

import { formatWeight } from "heed/view/parts";
import { useCallback, useMemo } from "preact/hooks";
import { CurveChoice } from "../../../picture/ColourChoice";
import { Choice, NumberField } from "../../../shared/Fields";
import { Panel } from "../../../shared/Panel";
import { RowTable, type TableColumn } from "../../../shared/RowTable";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { useFootnote } from "../../../shared/shell";
import { Transport } from "../../../shared/Transport";
import { useReducedMotion } from "../../../shared/useMedia";
import { useAnswer } from "../../../worker/engineClient";
import { FileField } from "../FileField";
import { LogSlider } from "../LogSlider";
import type { PanelProps } from "../panel";
import { As, Roles } from "../Roles";
import { StrongestRows } from "../StrongestRows";
import { largestWeights } from "../shares";
import { allowed, type TuneName } from "../state";
import { Work } from "../Work";
import { FrameMaps, usualFrames } from "./FrameMaps";
import { readSound } from "./ownSound";
import { usePlayer } from "./player";
import { rate, type Sound, timeOf } from "./sound";

const tunes: readonly (readonly [TuneName, string])[] = [
  ["round", "Frère Jacques"],
  ["seed", "random"],
];
const columns: readonly TableColumn[] = [
  { id: "frame", head: "frame" },
  { id: "time", head: "at" },
  { id: "weight", head: "weight" },
];
const rowsShown = 10;
interface OwnSound {
  own: Sound | null;
  onOwn(sound: Sound | null): void;
}

export function MelodyPanel({ state, set, own, onOwn }: PanelProps & OwnSound) {
  const { tune, tuneSeed: seed, temperature } = state;
  const asked = useMemo(() => (own ? null : { tune, seed }), [own, tune, seed]);
  const composed = useAnswer("tune", asked);
  const sound = own ?? composed.answer;
  const request = useMemo(() => sound && { sound, temperature }, [sound, temperature]);
  const { answer, failure } = useAnswer("melody", request);
  const melody = answer?.id === sound?.id ? answer : null;
  useFootnote(melody && `${melody.frames} frames compared in ${melody.milliseconds.toFixed(1)} ms`);
  const reduced = useReducedMotion();
  const frames = melody?.frames ?? usualFrames;
  const frame = Math.min(state.frame, frames - 1);
  const go = useCallback((frame: number) => set({ frame }), [set]);
  const live = usePlayer({ sound, frames, frame, follows: !reduced, go });
  const weights = melody?.weights.subarray(frame * frames, (frame + 1) * frames);
  const strongest = weights ? largestWeights(weights, rowsShown) : [];
  return (
    <>
      <SettingsPanel look={<CurveChoice curve={state.curve} onChange={set} />}>
        {!own && (
          <Choice
            label="Melody"
            value={tune}
            choices={tunes}
            onChange={(tune) => set({ tune, frame: 0 })}
          />
        )}
        {!own && tune === "seed" && (
          <NumberField
            label="Seed"
            value={seed}
            limits={allowed.seed}
            onChange={(tuneSeed) => set({ tuneSeed })}
          />
        )}
        <LogSlider
          label="Temperature"
          value={temperature}
          limits={allowed.temperature}
          onChange={(temperature) => set({ temperature })}
        />
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
      <Work title="Attention in a melody">
        <Roles>
          <As of="q">Query</As>, <As of="k">key</As> and <As of="v">value</As>: how loud each half
          tone is in a frame, a tenth of a second. Score: the cosine of two frames over the
          temperature.
        </Roles>
        <div class="beside">
          <Panel name="picture">
            <div class="stack">
              <Transport
                count={frames}
                index={frame}
                go={go}
                label="Melody"
                unit="Frame"
                title={timeOf(frame)}
                live={live}
              />
              <FrameMaps melody={melody} state={state} seek={live.seek} />
              {(failure ?? composed.failure) && <p role="status">{failure ?? composed.failure}</p>}
            </div>
          </Panel>
          <Panel name="weights">
            <RowTable title={`What ${timeOf(frame)} attends to most`} columns={columns}>
              <StrongestRows count={Math.min(rowsShown, frames)} strongest={strongest}>
                {(frame, weight) => (
                  <>
                    <th scope="row">{frame + 1}</th>
                    <td>{timeOf(frame)}</td>
                    <td data-column="weight">{formatWeight(weight)}</td>
                  </>
                )}
              </StrongestRows>
            </RowTable>
          </Panel>
        </div>
      </Work>
    </>
  );
}
