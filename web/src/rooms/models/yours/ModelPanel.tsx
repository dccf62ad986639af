/** The choice of a model, the progress of its download, and its description. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Announced } from "../../../shared/Announced";
import { Choice, Switch } from "../../../shared/Fields";
import { formatBytes } from "../../../shared/format";
import { Notices } from "../../../shared/Notices";
import { Lockable, Panel } from "../../../shared/Panel";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { addressField, KeptModels, useKept } from "./KeptModels";
import type { Card } from "./messages";
import { Progress } from "./Progress";
import {
  addressOf,
  type FoundFile,
  filesChosen,
  filesDropped,
  folderIn,
  linkOf,
  nameOf,
  ownAddress,
  ownSource,
  type Source,
} from "./source";
import { ownModel, type State, type WeightType } from "./state";
import type { AttentionActions } from "./useAttention";
import type { Loading, ModelActions } from "./useModel";

const architectures: Readonly<Record<string, string>> = {
  gpt2: "GPT-2",
  llama: "Llama",
  mistral: "Mistral",
  qwen2: "Qwen2",
  qwen3: "Qwen3",
  phi3: "Phi-3",
  gemma2: "Gemma 2",
  gemma3: "Gemma 3",
  bert: "BERT",
  roberta: "RoBERTa",
  "xlm-roberta": "XLM-RoBERTa",
  distilbert: "DistilBERT",
  mpnet: "MPNet",
  modernbert: "ModernBERT",
};

/** A number with its unit, such as 124 million. */
function manyOf(count: number): string {
  if (count < 1e6) return count.toLocaleString("en");
  const [size, unit] = count < 1e9 ? [count / 1e6, "million"] : [count / 1e9, "billion"];
  return `${size.toPrecision(3)} ${unit}`;
}

/** Whether it is the page's own model. */
const isOwn = ({ address }: Card) => address === ownAddress();

function CardView({ card, close }: { card: Card; close(): void }) {
  const { architecture, predicts, layers, heads, groups, headSize } = card;
  const shared = groups < heads ? `, ${groups} groups share keys` : "";
  const facts = [
    [
      "architecture",
      `${architectures[architecture] ?? architecture}, ${predicts === "causal" ? "predicts the next token" : "sees both sides"}`,
    ],
    ["layers", `${layers}`],
    ["heads", `${heads} in each layer, of ${headSize} numbers${shared}`],
    ["parameters", manyOf(card.parameters)],
    ["memory", `${formatBytes(card.bytes)} as ${card.dtype}`],
    ["context", `${card.context.toLocaleString("en")} tokens`],
    ["vocabulary", `${card.vocabulary.toLocaleString("en")} tokens`],
  ] as const;
  return (
    <div class="model-card" data-model={card.model}>
      <h2>
        {isOwn(card) && <span class="faint">Example: </span>}
        {card.name}
      </h2>
      <details>
        <summary>
          {layers} layers of {heads} heads
        </summary>
        <dl>
          {facts.map(([name, value]) => (
            <div key={name} data-fact={name}>
              <dt>{name}</dt>
              <dd class="number">{value}</dd>
            </div>
          ))}
        </dl>
        <Lockable>
          <button type="button" class="link" onClick={close}>
            Close this model
          </button>
        </Lockable>
      </details>
    </div>
  );
}

/** Buttons that open the browser's choice of files. */
function FileButtons({ take }: { take(found: readonly FoundFile[]): void }) {
  const folder = useRef<HTMLInputElement>(null);
  const files = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (folder.current) folder.current.webkitdirectory = true;
  }, []);
  const input = (ref: typeof folder, name: string) => (
    <input
      ref={ref}
      type="file"
      hidden
      multiple
      name={name}
      onChange={({ currentTarget }) => {
        take(filesChosen(currentTarget.files ?? []));
        // The same files can then be chosen again after they are repaired.
        currentTarget.value = "";
      }}
    />
  );
  return (
    <div class="row-of-buttons">
      <button type="button" onClick={() => folder.current?.click()}>
        Choose a folder
      </button>
      <button type="button" onClick={() => files.current?.click()}>
        Choose files
      </button>
      {input(folder, "folder")}
      {input(files, "files")}
    </div>
  );
}

/** Takes files that are dropped anywhere on the page. Otherwise the browser would open them and leave the page. */
function useDrop(take: (found: readonly FoundFile[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files");
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = ({ relatedTarget }: DragEvent) => {
      if (!relatedTarget) setOver(false);
    };
    const drop = async (event: DragEvent) => {
      setOver(false);
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      latest.current(await filesDropped(event.dataTransfer));
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
  return isOver;
}

function AddressForm({ model, open }: { model: string | null; open(address: string): void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const value = typed ?? (model === ownModel ? "" : (model ?? ""));
  return (
    <form
      class="address"
      onSubmit={(event) => {
        event.preventDefault();
        open(value);
      }}
    >
      <label for={addressField}>An address, or owner/name on the hub</label>
      <input
        id={addressField}
        type="text"
        inputMode="url"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder="openai-community/gpt2"
        value={value}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <button type="submit">Load</button>
    </form>
  );
}

function ModelSources({
  state,
  hasOwn,
  isLoading,
  keep,
  setKeep,
  setDtype,
  setWhy,
  load,
  takeAttention,
}: {
  state: State;
  /** Whether the page's own model is open. */
  hasOwn: boolean;
  isLoading: boolean;
  keep: boolean;
  setKeep(keep: boolean): void;
  setDtype(dtype: WeightType): void;
  setWhy(why: string): void;
  load(source: Source): void;
  takeAttention: AttentionActions["take"];
}) {
  const { restrictions } = useShell();
  const kept = useKept(isLoading, setWhy);
  const take = (found: readonly FoundFile[]) => {
    if (restrictions.lock || found.length === 0 || takeAttention(found)) return;
    const source = folderIn(found);
    if ("why" in source) setWhy(source.why);
    else load(source);
  };
  const isOver = useDrop(take);
  const openAddress = (typed: string) => {
    const address = addressOf(typed);
    if (address) load({ kind: "address", name: nameOf(address), address, keep });
    else setWhy("That is not an address. An example: https://huggingface.co/openai-community/gpt2");
  };
  return (
    <Lockable>
      {!hides(restrictions, "text") && (
        <p class="words">
          BERT, RoBERTa, MPNet or ModernBERT; GPT-2, Llama, Mistral, Qwen, Gemma or Phi. One GGUF
          file, or the files of Hugging Face’s hub: config.json, model.safetensors and
          tokenizer.json.
        </p>
      )}
      <div class="ways">
        {!hasOwn && (
          <section class="way" aria-label="The model of this page">
            <p>No model at hand? Begin with the small one of this page, 6 MB.</p>
            <div class="row-of-buttons">
              <button type="button" onClick={() => load(ownSource())}>
                Open the model of “Write”
              </button>
            </div>
          </section>
        )}
        <section class={isOver ? "way drop over" : "way drop"} aria-label="From this computer">
          <p>Drop the folder of a model here, or its files.</p>
          <p>
            Or attention weights that your program saved: .npy, .npz or .safetensors, with their
            tokens in .json.
          </p>
          <FileButtons take={take} />
        </section>
        <section class="way" aria-label="From an address">
          <AddressForm model={state.model} open={openAddress} />
          <Switch label="Keep it in this browser" checked={keep} onChange={setKeep} />
        </section>
      </div>
      <KeptModels
        models={kept.models}
        open={(address) => load({ kind: "address", name: nameOf(address), address, keep: true })}
        remove={kept.remove}
      />
      <Choice<WeightType>
        label="Keep its weights as"
        value={state.dtype}
        choices={[
          ["float32", "float32"],
          ["float16", "float16: half the memory"],
          ["int8", "int8: matrices in a quarter, rounded"],
          ["int4", "int4: matrices in a seventh, rounded more"],
        ]}
        onChange={setDtype}
      />
    </Lockable>
  );
}

/** The model that a link names, which is not loaded before the person wants it: some are large. */
function Named({
  model,
  keep,
  load,
}: {
  model: string;
  keep: boolean;
  load(source: Source): void;
}) {
  const own = model === ownModel;
  const address = addressOf(model) as string;
  const source = (): Source =>
    own ? ownSource() : { kind: "address", name: nameOf(address), address, keep };
  return (
    <p class="named-model">
      The link names {own ? "the model of “Write”" : <b>{model}</b>}.{" "}
      <button type="button" onClick={() => load(source())}>
        Open it
      </button>
    </p>
  );
}

export function ModelPanel({
  state,
  setDtype,
  card,
  loading,
  isComing,
  setWhy,
  actions,
  takeAttention,
  reading,
  notices,
}: {
  state: State;
  setDtype(dtype: WeightType): void;
  card: Card | null;
  loading: Loading | null;
  /** Whether the page's own model opens automatically. */
  isComing: boolean;
  setWhy(why: string | null): void;
  actions: ModelActions;
  takeAttention: AttentionActions["take"];
  /** The names of the files whose attention weights are being read. */
  reading: string | null;
  notices: readonly string[];
}) {
  const [keep, setKeep] = useState(true);
  const load = (source: Source) => actions.load(source, state.dtype);
  const hasOwn = isComing || (card !== null && isOwn(card));
  const ways = (
    <ModelSources
      {...{ state, hasOwn, keep, setKeep, setDtype, setWhy, load, takeAttention }}
      isLoading={loading !== null}
    />
  );
  const current = card && (card.address === null ? null : linkOf(card.address));
  const isNamed = state.model !== null && state.model !== current && !loading && !isComing;
  return (
    <section class="input" aria-label="The model">
      {/* A framed or locked link needs its model, too. */}
      {isNamed && state.model !== null && <Named {...{ keep, load }} model={state.model} />}
      <Panel name="input">
        {card || isComing ? (
          <details class="other-model">
            <summary>
              {hasOwn ? "Open your model or attention files" : "Open another model"}
            </summary>
            {ways}
          </details>
        ) : (
          ways
        )}
      </Panel>
      {reading !== null && <p class="faint">Reading {reading}</p>}
      <div class={isComing ? "model-place coming" : "model-place"}>
        <Panel name="input">{card && <CardView card={card} close={actions.close} />}</Panel>
        {loading && <Progress loading={loading} cancel={actions.cancel} />}
      </div>
      <Announced>
        {loading ? `${loading.name} is loading` : card && `${card.name} is open`}
      </Announced>
      <Notices notices={notices} />
    </section>
  );
}
