/** The room "Beyond words": one of four subjects. It keeps the person's files, which outlive the panel of a subject. */
import { useState } from "preact/hooks";
import { Choice } from "../../shared/Fields";
import { Notices } from "../../shared/Notices";
import { Panel } from "../../shared/Panel";
import type { RoomProps } from "../../shared/room";
import { fieldsOf } from "../../shared/settings";
import { TryNext } from "../../shared/TryNext";
import { MelodyPanel } from "./melody/MelodyPanel";
import type { Sound } from "./melody/sound";
import type { GreyPicture } from "./picture/drawing";
import { PicturePanel } from "./picture/PicturePanel";
import { PointsPanel } from "./points/PointsPanel";
import type { OwnSeries } from "./series/ownSeries";
import { SeriesPanel } from "./series/SeriesPanel";
import { type State, type Subject, settings } from "./state";
import { suggestions } from "./suggestions";

const subjects: readonly (readonly [Subject, string])[] = [
  ["picture", "pixels"],
  ["points", "points"],
  ["series", "values of a series"],
  ["melody", "frames of a melody"],
];

/** The subject that the link of a suggestion shows. */
const subjectOf = (href: string) => new URLSearchParams(href.slice(1)).get("show") ?? "picture";

export function View({ state, set, notices }: RoomProps<State>) {
  const [picture, setPicture] = useState<GreyPicture | null>(null);
  const [series, setSeries] = useState<OwnSeries | null>(null);
  const [sound, setSound] = useState<Sound | null>(null);
  const panels = {
    picture: <PicturePanel {...{ state, set }} own={picture} onOwn={setPicture} />,
    points: <PointsPanel {...{ state, set }} />,
    series: <SeriesPanel {...{ state, set }} own={series} onOwn={setSeries} />,
    melody: <MelodyPanel {...{ state, set }} own={sound} onOwn={setSound} />,
  };
  return (
    <>
      <div class="subject">
        <Panel name="subject">
          <Choice
            label="Attention among"
            choices={subjects}
            {...fieldsOf(settings, { state, set })("subject")}
          />
        </Panel>
        <Notices notices={notices} />
      </div>
      {panels[state.subject]}
      <TryNext suggestions={suggestions.filter(([href]) => subjectOf(href) === state.subject)} />
    </>
  );
}
