/**
 * All stages on one timeline, from the tokens to the joined heads: what the player shows is a pure function of its
 * index. A link names the stage and the time in it, so an index is found from both and the other way round.
 */
import { type StageName, stageNames } from "./stageNames";
import type { SentenceAttention, State } from "./state";
import { countOf, countOfTempo, type Tempo, type Timeline, tempoAt } from "./time";
import { timelineOf } from "./unfolding";

interface Chapter {
  readonly stage: StageName;
  readonly timeline: Timeline | null;
  /** Its first index on the timeline of all stages. */
  readonly start: number;
  readonly count: number;
}

export interface Story {
  readonly chapters: readonly Chapter[];
  readonly count: number;
}

export function storyOf(state: State, attention: SentenceAttention): Story {
  let start = 0;
  const chapters = stageNames.map((stage) => {
    const timeline = timelineOf({ ...state, stage }, attention);
    const chapter = { stage, timeline, start, count: timeline ? countOf(timeline) : 1 };
    start += chapter.count;
    return chapter;
  });
  return { chapters, count: start };
}

const chapterOf = ({ chapters }: Story, stage: StageName): Chapter =>
  chapters[stageNames.indexOf(stage)] as Chapter;

export function indexIn(story: Story, { stage, time }: Pick<State, "stage" | "time">): number {
  const { start, count } = chapterOf(story, stage);
  return start + Math.min(time ?? count - 1, count - 1);
}

export function placeAt(story: Story, index: number): { stage: StageName; time: number } {
  const chapter = story.chapters.findLast(({ start }) => start <= index) as Chapter;
  return { stage: chapter.stage, time: index - chapter.start };
}

/** Where playing starts: a complete stage is played again, and after the last one everything is. */
export function playFrom(story: Story, place: Pick<State, "stage" | "time">): number {
  const index = indexIn(story, place);
  if (index === story.count - 1) return 0;
  return place.time === null ? chapterOf(story, place.stage).start : index;
}

/** Milliseconds of a moment, and at most of all moments of its tempo. */
const paces: Readonly<Record<Tempo, readonly [one: number, all: number]>> = {
  slow: [1000, 5000],
  cell: [350, 2000],
  row: [300, 1800],
  end: [1800, 1800],
};

/** First cell slow, first row fast, then whole rows; the end of a stage stays to be looked at. */
export function paceOf(story: Story): (index: number) => number {
  return (index) => {
    const { stage, time } = placeAt(story, index);
    const { timeline } = chapterOf(story, stage);
    const tempo = timeline ? tempoAt(timeline, time) : "end";
    const [one, all] = paces[tempo];
    return timeline ? Math.min(one, all / countOfTempo(timeline, tempo)) : one;
  };
}
