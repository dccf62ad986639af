// Shows a GGUF file as the folder of a model on Hugging Face's hub: config.json, tokenizer.json and the weights as
// safetensors. Packed weights are unpacked to float32 while they are read, so that no second copy is in memory.

import { HeedError, refuse } from "../../core/error.js";
import type { ByteSource, OpenSource } from "../fetched.js";
import { type Folder, sourceOfBytes } from "../sources.js";
import {
  type Described,
  describeModel,
  describeSentences,
  Metadata,
  type TensorRule,
} from "./architectures.js";
import { type BlockType, unpackBlocks } from "./blocks.js";
import { type PackedTensor, readGguf } from "./header.js";
import { describeTokenizer } from "./tokenizer.js";

/** A tensor of the virtual safetensors file. */
interface ShownTensor {
  readonly packed: PackedTensor;
  readonly rule: TensorRule;
  /** The first byte, and the bytes of a row. */
  readonly begin: number;
  readonly rowBytes: number;
  readonly end: number;
}

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** Elements of float32, copied, because views need an aligned address. */
const floatsOf = (bytes: Uint8Array) => new Float32Array(new Uint8Array(bytes).buffer);

const bytesOfElement = ({ name, unpack }: BlockType) =>
  unpack !== undefined || name === "F32" ? 4 : 2;

/** The row of the file that holds row `row` of the hub: the pairs of a head lie side by side. */
function rowInFile(row: number, headSize: number): number {
  const [within, half] = [row % headSize, headSize / 2];
  return row - within + 2 * (within % half) + Math.floor(within / half);
}

/** The weights of the file as a safetensors file. */
class Weights implements OpenSource {
  readonly size: number;
  readonly #file: OpenSource;
  readonly #header: Uint8Array;
  readonly #tensors: readonly ShownTensor[];

  constructor(
    file: OpenSource,
    tensors: ReadonlyMap<string, PackedTensor>,
    rules: Described["rules"],
  ) {
    this.#file = file;
    let at = 0;
    const entries: Record<string, object> = {};
    const shown: ShownTensor[] = [];
    for (const [file, packed] of tensors) {
      const rule = rules.get(file);
      if (rule === undefined) continue;
      const { type, shape } = packed;
      if (rule.added && type.unpack === undefined && type.name !== "F32")
        throw refuse("format", `${file}: type`, "F32 for the weights of a norm", type.name);
      const element = bytesOfElement(type);
      const bytes = shape.reduce((a, b) => a * b, element);
      entries[rule.name] = {
        dtype: type.unpack === undefined ? type.name : "F32",
        ...{ shape, data_offsets: [at, at + bytes] },
      };
      // A vector is one row, or a row for each bias if its rows have another order.
      const isBias = shape.length === 1 && rule.pairedHeads !== undefined;
      const rowBytes = isBias ? element : element * (shape.at(-1) as number);
      shown.push({ packed, rule, begin: at, rowBytes, end: at + bytes });
      at += bytes;
    }
    const json = encode(entries);
    this.#header = new Uint8Array(8 + json.length);
    new DataView(this.#header.buffer).setBigUint64(0, BigInt(json.length), true);
    this.#header.set(json, 8);
    this.#tensors = shown;
    this.size = this.#header.length + at;
  }

  get kept(): boolean {
    return this.#file.kept ?? false;
  }

  async read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    const first = this.#header.length;
    if (start < first) return this.#header.subarray(start, end);
    const [from, to] = [start - first, end - first];
    const tensor = this.#tensors.find((each) => from >= each.begin && to <= each.end);
    if (tensor === undefined)
      throw new HeedError("internal", "a read of several tensors of a GGUF file");
    const firstRow = Math.floor((from - tensor.begin) / tensor.rowBytes);
    const lastRow = Math.ceil((to - tensor.begin) / tensor.rowBytes);
    const rows = await this.#rows(tensor, firstRow, lastRow, signal);
    const skipped = from - tensor.begin - firstRow * tensor.rowBytes;
    return rows.subarray(skipped, skipped + to - from);
  }

  /** Reads rows. Where the file has another order, it reads the rows of whole heads. */
  async #rows(
    { packed, rule, begin: start, rowBytes, end: stop }: ShownTensor,
    first: number,
    last: number,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> {
    const { pairedHeads: head = 1 } = rule;
    const count = (stop - start) / rowBytes;
    const begin = Math.floor(first / head) * head;
    const end = Math.min(Math.ceil(last / head) * head, count);
    const packedBytes = (packed.end - packed.begin) / count;
    const at = packed.begin + begin * packedBytes;
    const bytes = await this.#file.read(at, at + (end - begin) * packedBytes, signal);
    if (bytes.length < (end - begin) * packedBytes)
      throw refuse("load", "file", `${packed.end} bytes`, `${at + bytes.length}`);
    const shown = unpacked(packed.type, bytes, rule.added);
    if (rule.pairedHeads === undefined) return shown;
    const ordered = new Uint8Array((last - first) * rowBytes);
    for (let row = first; row < last; ++row) {
      const from = (rowInFile(row, head) - begin) * rowBytes;
      ordered.set(shown.subarray(from, from + rowBytes), (row - first) * rowBytes);
    }
    return ordered;
  }

  close(): void {
    this.#file.close?.();
  }

  async keepRest(signal?: AbortSignal): Promise<void> {
    await this.#file.keepRest?.(signal);
  }
}

/** The bytes of float32 elements, or of elements of 16 bits as they are in the file. */
function unpacked(type: BlockType, bytes: Uint8Array, added = 0): Uint8Array {
  if (type.unpack === undefined && added === 0) return bytes;
  const floats = type.unpack === undefined ? floatsOf(bytes) : unpackBlocks(type, bytes);
  if (added !== 0) for (const [i, each] of floats.entries()) floats[i] = each - added;
  return new Uint8Array(floats.buffer);
}

/** The numbers by which a file divides the frequencies of its rotation. */
async function divisorsIn(
  file: ByteSource,
  tensor: PackedTensor | undefined,
  signal?: AbortSignal,
) {
  if (tensor?.type.name !== "F32") return undefined;
  const bytes = await file.read(tensor.begin, tensor.end, signal);
  return Array.from(floatsOf(bytes));
}

/** Shows a GGUF file as a folder. `name` is the file's name in errors. */
export async function ggufFolder(
  file: OpenSource,
  name: string,
  signal?: AbortSignal,
): Promise<Folder> {
  try {
    const header = await readGguf(file, signal);
    const read = new Metadata(header.metadata);
    const divisors = await divisorsIn(file, header.tensors.get("rope_freqs.weight"), signal);
    const { config, rules } = describeModel(read, header, { divisors });
    let described: ReturnType<typeof describeTokenizer> | undefined;
    const tokenizer = () => {
      described ??= describeTokenizer(read);
      return described;
    };
    const sentences = Object.entries(describeSentences(read)).map(
      ([name, content]) => [name, () => sourceOfBytes(encode(content))] as const,
    );
    const files: Readonly<Record<string, () => OpenSource>> = {
      ...Object.fromEntries(sentences),
      "config.json": () => sourceOfBytes(encode(config)),
      "model.safetensors": () => new Weights(file, header.tensors, rules),
      "tokenizer.json": () => sourceOfBytes(encode(tokenizer().tokenizer)),
      "tokenizer_config.json": () => sourceOfBytes(encode(tokenizer().config)),
    };
    return {
      names: Object.keys(files),
      open: async (asked) => files[asked]?.(),
      close: () => file.close?.(),
    };
  } catch (error) {
    file.close?.();
    if (!(error instanceof HeedError) || error.code !== "format") throw error;
    throw new HeedError("format", `${name}: ${error.message.replace(/^format: /, "")}`, {
      cause: error,
    });
  }
}
