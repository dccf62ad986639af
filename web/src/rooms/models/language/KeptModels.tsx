/** The models that the browser keeps: each opens without a download, and can be deleted. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { formatBytes } from "../../../shared/format";
import { useEngine } from "../../../worker/engineClient";
import type { KeptModel } from "./messages";
import { linkOf } from "./source";

/** The field for the address of a model. */
export const addressField = "model-address";

/** @param isLoading whether a model is loading, after which another one may be kept */
export function useKept(isLoading: boolean, setWhy: (why: string) => void) {
  const engine = useEngine();
  const [models, setModels] = useState<readonly KeptModel[]>([]);
  const list = useCallback(
    (deleted: string | null) =>
      engine.ask("language", { kind: "kept", deleted }).then(
        (answer) => answer?.kind === "kept" && setModels(answer.models),
        // The room works without a list, but a failed deletion must be reported.
        (error: Error) => {
          if (deleted !== null) setWhy(`${linkOf(deleted)} is still kept: ${error.message}`);
        },
      ),
    [engine, setWhy],
  );
  useEffect(() => {
    if (!isLoading) void list(null);
  }, [isLoading, list]);
  return { models, remove: (address: string) => void list(address) };
}

interface KeptModelsProps {
  models: readonly KeptModel[];
  open(address: string): void;
  remove(address: string): void;
}

export function KeptModels({ models, open, remove }: KeptModelsProps) {
  const list = useRef<HTMLUListElement>(null);
  /** The place in the list of the model that was deleted. */
  const deleted = useRef<number | null>(null);
  useEffect(() => {
    const place = deleted.current;
    deleted.current = null;
    // The button that had the focus is gone: the next model has it now, or the last one, or the address.
    if (place === null || document.activeElement !== document.body) return;
    const left = list.current?.querySelectorAll<HTMLElement>("li > button:first-child") ?? [];
    const next = left[Math.min(place, left.length - 1)] ?? document.getElementById(addressField);
    next?.focus();
  }, [models]);
  if (models.length === 0) return null;
  return (
    <section class="kept-models" aria-label="Kept in this browser">
      <p class="faint">Kept in this browser:</p>
      <ul ref={list}>
        {models.map(({ address, bytes, size }, place) => (
          <li class="line" key={address} data-kept={linkOf(address)}>
            <button type="button" onClick={() => open(address)}>
              {linkOf(address)}
            </button>
            <span class="number">
              {bytes < size
                ? `${formatBytes(bytes)} of ${formatBytes(size)}: the rest comes when you open it`
                : formatBytes(bytes)}
            </span>
            <button
              type="button"
              class="link"
              aria-label={`Delete ${linkOf(address)}`}
              onClick={() => {
                deleted.current = place;
                remove(address);
              }}
            >
              Delete
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
