/** Where a model comes from: files that the person chose, or an address. */
import { ourAddress } from "../../../shared/ourModel";

/** The files of one folder by their names. */
export interface FilesSource {
  readonly kind: "files";
  /** The name of the model on the page. */
  readonly name: string;
  readonly files: Readonly<Record<string, File>>;
}

interface AddressSource {
  readonly kind: "address";
  readonly name: string;
  readonly address: string;
  /** Whether the browser keeps its files for the next time. */
  readonly keep: boolean;
  /** Whether it is the page's own model, whose files the page keeps anyway. */
  readonly isOurs?: boolean;
}

export type Source = FilesSource | AddressSource;

const hub = "https://huggingface.co/";

/** The address that a person means: a whole one, or owner/name of the hub. Null if it is none. */
export function addressOf(typed: string): string | null {
  const text = typed.trim();
  if (/^[\w.-]+\/[\w.-]+$/.test(text)) return `${hub}${text}`;
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return null;
  return text;
}

/** How a link names an address: shortly, if it is on the hub. */
export function linkOf(address: string): string {
  return address.startsWith(hub) && addressOf(address.slice(hub.length)) === address
    ? address.slice(hub.length)
    : address;
}

/** The page's own model. */
export const ourSource = (): Source => ({
  ...{ kind: "address", name: "Our language model", address: ourAddress() },
  ...{ keep: false, isOurs: true },
});

/** The last part of an address that names the model. */
export function nameOf(address: string): string {
  const { hostname, pathname } = new URL(address);
  const parts = pathname.replace(/\/(resolve|tree)\/[^/]+\/?$/, "").split("/");
  return parts.filter(Boolean).at(-1) ?? hostname;
}

export function sourceAt(address: string, keep: boolean): Source {
  return { kind: "address", name: nameOf(address), address, keep };
}

/** A file and the folders that it is in, from the one that was chosen on: "tiny/onnx/config.json". */
export interface FoundFile {
  readonly path: string;
  readonly file: File;
}

const filesNeeded = ["config.json", "model.safetensors", "tokenizer.json"] as const;

const weightsIndex = "model.safetensors.index.json";

const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** A file that holds weights in a form that is not read. */
const otherWeights = /^(pytorch_model.*\.bin|tf_model\.h5|.*\.(onnx|msgpack|pt|pth))$/;

const isGguf = (name: string) => /\.gguf$/i.test(name);

/** The files that are missing in a folder; null if none is missing. A GGUF file holds all of them. */
export function missingIn(names: readonly string[]): string | null {
  const ggufs = names.includes("config.json") ? [] : names.filter(isGguf);
  if (ggufs.length === 1) return null;
  if (ggufs.length > 1) return `There are several GGUF files: ${listed(ggufs)}. Choose one.`;
  const isThere = (name: string) =>
    names.includes(name) || (name === "model.safetensors" && names.includes(weightsIndex));
  const absent = filesNeeded.filter((name) => !isThere(name));
  if (absent.length === 0) return null;
  if (absent.includes("tokenizer.json") && names.includes("preprocessor_config.json"))
    return "preprocessor_config.json found, tokenizer.json is not: the model reads images or sound, and this room takes text.";
  const found = filesNeeded.filter(isThere);
  const are = (names: readonly string[]) => `${listed(names)} ${names.length === 1 ? "is" : "are"}`;
  const what =
    found.length > 0
      ? `${listed(found)} found, ${are(absent)} not.`
      : `Neither config.json nor model.safetensors nor tokenizer.json is among the ${names.length} files.`;
  const other =
    absent.includes("model.safetensors") && names.find((name) => otherWeights.test(name));
  return other ? `${what} The weights in ${other} cannot be read: safetensors can.` : what;
}

/** The folder of a model and one of its files, which may be in the folder of a module of the model, such as 1_Pooling. */
export const filePath = /^(?:(.*?)\/)??((?:\d_(?:Pooling|Dense)\/)?[^/]*)$/;

/** The folder of a model among the files that were chosen, or why there is none. */
export function folderIn(found: readonly FoundFile[]): FilesSource | { readonly why: string } {
  const folders = new Map<string, Record<string, File>>();
  for (const { path, file } of found) {
    const [, folder = "", name = path] = filePath.exec(path) ?? [];
    folders.set(folder, { ...folders.get(folder), [name]: file });
  }
  const depth = (folder: string) => (folder === "" ? 0 : folder.split("/").length);
  const isModel = (files: Record<string, File>) =>
    Object.keys(files).some((name) => name === "config.json" || /\.(safetensors|gguf)$/.test(name));
  const models = [...folders].filter(([, files]) => isModel(files));
  const least = Math.min(...models.map(([folder]) => depth(folder)));
  const nearest = models.filter(([folder]) => depth(folder) === least);
  if (nearest.length > 1) {
    const names = nearest.map(([folder]) => folder.split("/").at(-1) as string);
    return { why: `There are several models: ${listed(names)}. Choose the folder of one.` };
  }
  const [folder, files] = nearest[0] ?? [...folders][0] ?? ["", {}];
  const why = missingIn(Object.keys(files));
  if (why !== null) return { why };
  const [gguf] = "config.json" in files ? [] : Object.keys(files).filter(isGguf);
  const name = gguf?.replace(/\.gguf$/i, "") ?? folder.split("/").at(-1);
  return { kind: "files", name: name || "chosen files", files };
}

/** The most files of a folder that are looked at. */
const mostFiles = 1000;

const filesOfEntry = (entry: FileSystemFileEntry) =>
  new Promise<File>((resolve, reject) => entry.file(resolve, reject));

const entriesOf = (reader: FileSystemDirectoryReader) =>
  new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));

async function filesUnder(entry: FileSystemEntry, found: FoundFile[]): Promise<void> {
  if (found.length >= mostFiles) return;
  if (entry.isFile) {
    const file = await filesOfEntry(entry as FileSystemFileEntry);
    found.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader gives some entries at a time, and none at the end.
  for (let entries = await entriesOf(reader); entries.length > 0; entries = await entriesOf(reader))
    for (const each of entries) await filesUnder(each, found);
}

/** The files and folders that were dropped on the page. Must be called before the event ends. */
export async function filesDropped({ items, files }: DataTransfer): Promise<FoundFile[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? null);
  const found: FoundFile[] = [];
  const plain = filesChosen(files);
  try {
    for (const entry of entries) if (entry) await filesUnder(entry, found);
  } catch {
    // WebKit has entries that it cannot read for files that it can.
    return plain;
  }
  return found.length > 0 ? found : plain;
}

/** The files of a file input. */
export function filesChosen(files: Iterable<File>): FoundFile[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}
