/** The numbers of a model's whole network, asked for only while its panel is in view. */
import { useMemo } from "preact/hooks";
import { type HeadKey, type HeadPlace, headPlaceOf } from "../shared/layerHeads";
import { useAnswer } from "../worker/engineClient";
import type { RequestOf } from "../worker/solvers";
import type { Facts } from "./facts";
import { layerOfRow } from "./Inside";
import type { MatricesRequest, NetworkRequest } from "./messages";
import { matricesIn, useFacts } from "./useFacts";

/** The rooms whose models predict the next token. */
type CausalRoom = "write" | "yours";

/** How a room's requests name its model. */
type Model<Name extends CausalRoom> = Omit<
  Extract<RequestOf<Name>, NetworkRequest>,
  keyof NetworkRequest
>;

/** What is asked of a model's network, and where it is shown. */
interface Question<Name extends CausalRoom> {
  /** Must stay the same object while the model does. */
  readonly model: Model<Name>;
  /** Must stay the same list until a head is dropped or restored. */
  readonly dropped: readonly HeadKey[];
  readonly isSeen: boolean;
  /** All tokens of the text, and their labels. */
  readonly ids: readonly number[];
  readonly tokens: readonly string[];
  /** The token whose way is shown, counted from 0. */
  readonly place: number;
  /** The open row: see CausalState. */
  readonly row: number | null;
  /** The number of layers. */
  readonly layers: number;
  readonly head: HeadKey;
}

export function useNetwork<Name extends CausalRoom>(
  room: Name,
  { model, dropped, isSeen, ids, tokens, place, row, layers, head: key }: Question<Name>,
): { facts: Facts | null; isBusy: boolean; failure: string | null } {
  const { head } = headPlaceOf(key) as HeadPlace;
  const layer = layerOfRow(row, layers);
  const ask = (request: NetworkRequest | MatricesRequest) =>
    ({ ...request, ...model }) as unknown as RequestOf<Name>;
  const request = useMemo(
    () =>
      isSeen ? ask({ kind: "network", ids: ids.slice(0, place + 1), layer, head, dropped }) : null,
    [isSeen, model, ids, place, dropped, layer, head],
  );
  const asked = useMemo(
    () => (isSeen && layer !== null ? ask({ kind: "matrices", layer }) : null),
    [isSeen, model, layer],
  );
  const found = useAnswer(room, request);
  const matrices = matricesIn(useAnswer(room, asked), asked);
  const facts = useFacts(found, { ids, tokens }, matrices);
  return { facts, isBusy: found.isBusy, failure: found.failure };
}
