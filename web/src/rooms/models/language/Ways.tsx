/** The ways to open a model of the person: files of this computer, or an address. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Choice, Switch } from "../../../shared/Fields";
import { Lockable } from "../../../shared/Panel";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { addressField, KeptModels, useKept } from "./KeptModels";
import { addressOf, type FoundFile, filesChosen, type Source, sourceAt } from "./source";
import { type State, type WeightType, yourModel } from "./state";

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
  "BERT, RoBERTa, MPNet or ModernBERT; GPT-2, Llama, Mistral, Qwen, Gemma or Phi. One GGUF file, or the files of Hugging Face’s hub: config.json, model.safetensors and tokenizer.json.";

export interface WaysProps {
  readonly state: State;
  readonly isLoading: boolean;
  /** Whether files are dragged over the page. */
  readonly isOver: boolean;
  readonly keep: boolean;
  setKeep(keep: boolean): void;
  setDtype(dtype: WeightType): void;
  setWhy(why: string): void;
  load(source: Source): void;
  take(found: readonly FoundFile[]): void;
}

export function Ways(props: WaysProps) {
  const { state, isLoading, isOver, keep, setKeep, setDtype, setWhy, load, take } = props;
  const { restrictions } = useShell();
  const kept = useKept(isLoading, setWhy);
  const openAddress = (typed: string) => {
    const address = addressOf(typed);
    if (address) load(sourceAt(address, keep));
    else setWhy("That is not an address. An example: https://huggingface.co/openai-community/gpt2");
  };
  return (
    <Lockable>
      {!hides(restrictions, "text") && <p class="words">{formats}</p>}
      <div class="ways">
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
        open={(address) => load(sourceAt(address, true))}
        remove={kept.remove}
      />
      <Choice<WeightType>
        label="Keep its weights as"
        value={state.dtype}
        choices={weightChoices}
        onChange={setDtype}
      />
    </Lockable>
  );
}
