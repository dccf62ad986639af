/**
 * All stages of a computation on one timeline: the state that a player shows is a pure function of
 * an index. A moment is identified by its stage and its time in the stage, and the index is
 * computed from both, and both from the index.
 */
import type { Pace } from "./play.js";
import { countOf, countOfTempo, type Tempo, type Timeline, tempoAt } from "./timeline.js";

interface Chapter<Stage extends string, Name extends string> {
  readonly stage: Stage;
  /** The computation of the stage; null if the stage computes nothing. */
  readonly timeline: Timeline<Name> | null;
  /** The first index of the stage on the timeline of all stages. */
  readonly start: number;
  readonly count: number;
}

export interface Story<Stage extends string = string, Name extends string = string> {
  readonly chapters: readonly Chapter<Stage, Name>[];
  readonly count: number;
}

/** A stage, and the index of a moment in it; null for the complete stage. */
interface StoryPlace<Stage extends string = string> {
  readonly stage: Stage;
  readonly time: number | null;
}

export function storyOf<Stage extends string, Name extends string>(
  stages: readonly Stage[],
  timelineOf: (stage: Stage) => Timeline<Name> | null,
): Story<Stage, Name> {
  let start = 0;
  const chapters = stages.map((stage) => {
    const timeline = timelineOf(stage);
    const chapter = { stage, timeline, start, count: timeline ? countOf(timeline) : 1 };
    start += chapter.count;
    return chapter;
  });
  return { chapters, count: start };
}

const chapterOf = <Stage extends string, Name extends string>(
  { chapters }: Story<Stage, Name>,
  stage: Stage,
) => chapters.find((chapter) => chapter.stage === stage) as Chapter<Stage, Name>;

export function indexIn<Stage extends string>(
  story: Story<Stage>,
  { stage, time }: StoryPlace<Stage>,
): number {
  const { start, count } = chapterOf(story, stage);
  return start + Math.min(time ?? count - 1, count - 1);
}

export function placeAt<Stage extends string>(
  story: Story<Stage>,
  index: number,
): { stage: Stage; time: number } {
  const next = story.chapters.findIndex(({ start }) => start > index);
  const chapter = story.chapters.at(next === -1 ? -1 : next - 1) as Chapter<Stage, string>;
  return { stage: chapter.stage, time: index - chapter.start };
}

/** The index at which playing starts: a complete stage is played again, and after the last stage the whole story is. */
export function playFrom<Stage extends string>(
  story: Story<Stage>,
  place: StoryPlace<Stage>,
): number {
  const index = indexIn(story, place);
  if (index === story.count - 1) return 0;
  return place.time === null ? chapterOf(story, place.stage).start : index;
}

/** The milliseconds of one moment of each tempo, and the most for all moments of that tempo. */
const paces: Readonly<Record<Tempo, readonly [one: number, all: number]>> = {
  slow: [1000, 5000],
  cell: [350, 2000],
  row: [300, 1800],
  end: [1800, 1800],
};

/**
 * The pace: the first cell is slow, the rest of its row fast, then whole rows; the end of a stage
 * stays visible longer.
 */
export function paceOf(story: Story): Extract<Pace, (index: number) => number> {
  return (index) => {
    const { stage, time } = placeAt(story, index);
    const { timeline } = chapterOf(story, stage);
    const tempo = timeline ? tempoAt(timeline, time) : "end";
    const [one, all] = paces[tempo];
    return timeline ? Math.min(one, all / countOfTempo(timeline, tempo)) : one;
  };
}
