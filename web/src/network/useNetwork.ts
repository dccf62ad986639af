/** The trace of a token through a model, requested only while its panel is in view. */
import { useMemo } from "preact/hooks";
import type { Ablated } from "../shared/ablation";
import { type HeadKey, type HeadPlace, headPlaceOf } from "../shared/layerHeads";
import { useAnswer } from "../worker/engineClient";
import type { RequestOf } from "../worker/solvers";
import type { Facts } from "./facts";
import { layerOfRow } from "./Inside";
import type { MatricesRequest, NetworkRequest } from "./messages";
import { matricesIn, useFacts } from "./useFacts";

/** The rooms whose models predict the next token. */
type CausalRoom = "language";

/** The part of a request that identifies the model of a room. */
type Model<Name extends CausalRoom> = Omit<
  Extract<RequestOf<Name>, NetworkRequest>,
  keyof NetworkRequest
>;

/** The traced token, and the row to show. */
interface Question<Name extends CausalRoom> {
  /** Must be the same object for as long as the model is the same. */
  readonly model: Model<Name>;
  /** Must be the same object until a head is ablated or restored. */
  readonly ablating: Ablated;
  readonly isSeen: boolean;
  /** All tokens of the text, and their labels. */
  readonly ids: readonly number[];
  readonly tokens: readonly string[];
  /** The traced token, counted from 0. */
  readonly place: number;
  /** The open row: see CausalState. */
  readonly row: number | null;
  /** The number of layers. */
  readonly layers: number;
  readonly head: HeadKey;
}

export function useNetwork<Name extends CausalRoom>(
  room: Name,
  { model, ablating, isSeen, ids, tokens, place, row, layers, head: key }: Question<Name>,
): { facts: Facts | null; isBusy: boolean; failure: string | null } {
  const { head } = headPlaceOf(key) as HeadPlace;
  const layer = layerOfRow(row, layers);
  const ask = (request: NetworkRequest | MatricesRequest) =>
    ({ ...request, ...model }) as unknown as RequestOf<Name>;
  const request = useMemo(
    () =>
      isSeen
        ? ask({ kind: "network", ids: ids.slice(0, place + 1), layer, head, ...ablating })
        : null,
    [isSeen, model, ids, place, ablating, layer, head],
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
