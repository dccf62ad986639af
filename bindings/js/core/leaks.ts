// `load({ debug: true })`: remembers where each object was made. Reports the objects that the
// garbage collector frees because nothing disposed of them.

import { type AllocationSite, Border, type Kind, type Watched } from "./border.js";
import type { Handle } from "./module.js";
import { Tensor } from "./tensor.js";

interface Site {
  readonly stack: string;
  /** The label of an object made there; of a leaked object, if there is one. */
  example: string;
  readonly leaked: { count: number; bytes: number };
}

/** Information about a live object, without a reference to it. */
interface Live {
  readonly kind: Kind;
  readonly site: Site;
  /** Empty until the object's constructor has finished. */
  label: string;
  /** The bytes of a tensor. The size of other objects may change, so C++ is asked for it. */
  bytes: number;
}

export class LeakFinder extends Border {
  readonly #sites = new Map<string, Site>();
  readonly #live = new Map<Handle, Live>();

  override watch(owned: Watched): void {
    const { kind } = owned;
    const site = this.#siteOf(callerStack());
    this.#live.set(owned.handle(kind, this), { kind, site, label: "", bytes: 0 });
    super.watch(owned);
  }

  protected override watchFresh(): void {
    for (const owned of this.fresh) {
      if (owned.isDisposed) continue;
      const live = this.#live.get(owned.handle(owned.kind, this)) as Live;
      live.label = owned.label;
      live.site.example ||= live.label;
      if (owned instanceof Tensor) live.bytes = owned.data.byteLength;
    }
    super.watchFresh();
  }

  override free(kind: Kind, handle: Handle): void {
    this.#live.delete(handle);
    super.free(kind, handle);
  }

  protected override freeAbandoned(kind: Kind, handle: Handle): void {
    const live = this.#live.get(handle);
    if (live !== undefined) {
      const { site } = live;
      site.example = live.label;
      site.leaked.bytes += this.#bytesOf(handle, live);
      // The garbage collector frees many objects in a row. The report counts all of them.
      if (++site.leaked.count === 1) queueMicrotask(() => report(site));
    }
    super.freeAbandoned(kind, handle);
  }

  /** The sites of live and of leaked objects. The sites with most bytes come first. */
  override sites(): AllocationSite[] {
    this.watchFresh();
    const found = new Map<Site, { count: number; bytes: number }>();
    for (const site of this.#sites.values()) found.set(site, { count: 0, bytes: 0 });
    for (const [handle, live] of this.#live) {
      const held = found.get(live.site) as { count: number; bytes: number };
      held.count += 1;
      held.bytes += this.#bytesOf(handle, live);
    }
    return [...found]
      .filter(([{ leaked }, { count }]) => count + leaked.count > 0)
      .sort(([, a], [, b]) => b.bytes - a.bytes)
      .map(([{ stack, example, leaked }, held]) => ({
        example,
        ...held,
        leaked: { ...leaked },
        stack,
      }));
  }

  override dispose(): void {
    super.dispose();
    this.#live.clear();
    this.#sites.clear();
  }

  #siteOf(stack: string): Site {
    let site = this.#sites.get(stack);
    if (site === undefined) {
      site = { stack, example: "", leaked: { count: 0, bytes: 0 } };
      this.#sites.set(stack, site);
    }
    return site;
  }

  #bytesOf(handle: Handle, { kind, bytes }: Live): number {
    return kind === "tensor" ? bytes : this.bytesOf(kind, handle);
  }
}

function report({ example, leaked: { count, bytes }, stack }: Site): void {
  const what = count === 1 ? example : `${count} objects, such as ${example},`;
  console.warn(
    `heed: the garbage collector freed ${what} of ${bytes} bytes, because nothing disposed of ` +
      `${count === 1 ? "it" : "them"}. Use \`dispose()\`, \`using\` or \`heed.scope\`. Made at:\n${stack}`,
  );
}

/** A frame with a position: not the error's own line, and not a built-in function. */
const isFrame = (line: string) => /:\d+\)?$/.test(line);

/** The stack of this call, up to 100 frames: V8 captures 10 by default, and modules within modules have more. */
function longStack(): string {
  const limit: unknown = Reflect.get(Error, "stackTraceLimit");
  if (typeof limit === "number") Reflect.set(Error, "stackTraceLimit", 100);
  try {
    // Formatted now: until then, V8's errors keep the objects in their frames alive.
    return String(new Error().stack);
  } finally {
    if (typeof limit === "number") Reflect.set(Error, "stackTraceLimit", limit);
  }
}

/**
 * The innermost calls outside this package. In a bundle, frames of this package and of its callers
 * look alike, so there the stack has both.
 */
function callerStack(): string {
  const stack = longStack();
  const frames = stack.split("\n").filter(isFrame);
  const [folder] = /[^\s(@]+(?=core\/leaks\.js)/.exec(stack) ?? [];
  // With more frames, one place would count as several: the outer frames of a loop in an async
  // function change at its first pause.
  const innermost =
    folder === undefined
      ? frames.slice(0, 40)
      : frames.filter((frame) => !frame.includes(folder)).slice(0, 4);
  return innermost.join("\n");
}
