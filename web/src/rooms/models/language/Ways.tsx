/** The ways to open a model of the person: files of this computer, or an address. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Choice, Switch } from "../../../shared/Fields";
import { Lockable, Prose } from "../../../shared/Panel";
import type { Setter } from "../../../shared/room";
import { addressField, KeptModels, useKept } from "./KeptModels";
import { addressOf, type FoundFile, filesChosen, type Source, sourceAt } from "./source";
import { type State, type WeightType, yourModel } from "./state";
import type { Opened } from "./useOpened";

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

function AddressForm({ model, open }: { model: string; open(address: string): void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const value = typed ?? (model === yourModel ? "" : model);
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

const weightChoices: readonly (readonly [WeightType, string])[] = [
  ["float32", "float32"],
  ["float16", "float16: half the memory"],
  ["int8", "int8: matrices in a quarter, rounded"],
  ["int4", "int4: matrices in a seventh, rounded more"],
];

const formats =
  "BERT, RoBERTa, MPNet or ModernBERT; T5, BART or Marian; GPT-2, Llama, Mistral, Qwen, Gemma or Phi. One GGUF file, or the files of Hugging Face’s hub: config.json, model.safetensors and tokenizer.json.";

interface WaysProps {
  readonly opened: Opened;
  readonly state: State;
  readonly set: Setter<State>;
  /** Whether files are dragged over the page. */
  readonly isOver: boolean;
  readonly keep: boolean;
  setKeep(keep: boolean): void;
  load(source: Source): void;
}

export function Ways({ opened, state, set, isOver, keep, setKeep, load }: WaysProps) {
  const { loading, setWhy, take } = opened;
  const kept = useKept(loading !== null, setWhy);
  const openAddress = (typed: string) => {
    const address = addressOf(typed);
    if (address) load(sourceAt(address, keep));
    else setWhy("That is not an address. An example: https://huggingface.co/openai-community/gpt2");
  };
  return (
    <Lockable>
      <Prose class="prose">{formats}</Prose>
      <div class="ways">
        <section class={isOver ? "way drop over" : "way drop"} aria-label="From this computer">
          <p class="faint">Drop the folder of a model here, or its files.</p>
          <p class="faint">
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
        open={(address) => load(sourceAt(address, true))}
        remove={kept.remove}
      />
      <Choice<WeightType>
        label="Keep its weights as"
        value={state.dtype}
        choices={weightChoices}
        onChange={(dtype) => set({ dtype })}
      />
    </Lockable>
  );
}
