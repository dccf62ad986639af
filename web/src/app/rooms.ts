/** The rooms of the Playground, in the order of the navigation. Each has one entry here and its own folder. */
import type { Room } from "../shared/room";

// biome-ignore lint/suspicious/noExplicitAny: each room has its own type of state, which only that room reads
export type AnyRoom = Room<any>;

interface Entry {
  /** Its name in a link. */
  readonly id: string;
  /** Its name in the navigation. */
  readonly name: string;
  /** The question that it answers. The room before ends with it, and the navigation shows it as a hint. */
  readonly question: string;
  load(): Promise<{ default: AnyRoom }>;
}

/** A link without a room opens the first one. */
export const rooms = [
  {
    id: "steps",
    name: "Step by step",
    question: "How is attention computed?",
    load: () => import("../rooms/steps/steps"),
  },
  {
    id: "models",
    name: "Models",
    question: "What do the heads of a trained model attend to?",
    load: () => import("../rooms/models/models"),
  },
  {
    id: "learn",
    name: "Learn",
    question: "How does a model learn where to attend?",
    load: () => import("../rooms/learn/learn"),
  },
  {
    id: "recurrent",
    name: "RNN, Bahdanau, self-attention",
    question: "What was there before attention, and what did it change?",
    load: () => import("../rooms/recurrent/recurrent"),
  },
  {
    id: "beyond",
    name: "Beyond words",
    question: "Does attention need words?",
    load: () => import("../rooms/beyond/beyond"),
  },
  {
    id: "speed",
    name: "Speed",
    question: "How fast is it in this browser?",
    load: () => import("../rooms/speed/speed"),
  },
] as const satisfies readonly Entry[];

export type RoomId = (typeof rooms)[number]["id"];

/** Rooms of earlier versions, whose links lead to the room "Models" now, and the model that each opened with. */
const formerRooms = new Map([
  ["heads", "pronouns"],
  ["write", null],
  ["yours", "yours"],
]);

/** The parameters of a link, with the present names of its room and of the ablated heads. */
export function withPresentNames(params: URLSearchParams): URLSearchParams {
  const present = new URLSearchParams(
    [...params].map(([key, text]) => [key === "drop" ? "ablate" : key, text]),
  );
  const room = params.get("room") ?? "";
  const model = formerRooms.get(room);
  if (model === undefined) return present;
  present.set("room", "models" satisfies RoomId);
  if (model !== null && !params.has("model")) present.set("model", model);
  // The former room read a text with our model and did not go on with it.
  if (room === "yours" && params.get("model") === "write") {
    present.delete("model");
    const still = { temperature: "0", topp: "1", length: "0" };
    for (const [key, text] of Object.entries(still)) if (!params.has(key)) present.set(key, text);
  }
  return present;
}

export function isRoomId(text: string): text is RoomId {
  return rooms.some(({ id }) => id === text);
}

export async function loadRoom(wanted: RoomId): Promise<AnyRoom> {
  const entry: Entry | undefined = rooms.find(({ id }) => id === wanted);
  if (!entry) throw new RangeError(`there is no room ${wanted}`);
  return (await entry.load()).default;
}
