// Starts the workers of one script: the threads of an engine, or the worker of heed/worker.

import { inCommon } from "../core/copies.js";
import type { Failure, ThreadWorker } from "../core/module.js";
import { builtin, isNode } from "./features.js";

interface Policy {
  createScriptURL(address: string): string;
}

let policy: Policy | undefined;

/** Converts an address to the form that a page with trusted types accepts. */
function trusted(address: string): string {
  const { trustedTypes } = globalThis as {
    trustedTypes?: { createPolicy(name: string, rules: Policy): Policy };
  };
  try {
    policy ??= trustedTypes?.createPolicy("heed", { createScriptURL: (address) => address });
  } catch {
    // The page does not allow a policy of this name. It may still accept the address itself.
  }
  return policy?.createScriptURL(address) ?? address;
}

/** The addresses from which a worker has failed to start in this page. */
const blocked = () => inCommon("blocked", () => new Set<string>());

export class WorkerScript {
  readonly #address: URL;
  readonly #name: string;
  /** Whether workers start from a blob that imports the script. */
  #needsBlob: boolean;
  #blob: string | undefined;
  /** The workers that were not started from the blob. */
  readonly #direct = new WeakSet<object>();
  /** Whether the content security policy of the page has refused a worker. */
  #isRefused = false;
  readonly #onViolation = (event: Event) => {
    const { effectiveDirective, blockedURI } = event as SecurityPolicyViolationEvent;
    // Another engine may start workers at the same time, directly or from a blob.
    const isOurs = blockedURI.startsWith("blob") === this.#needsBlob;
    this.#isRefused ||= isOurs && effectiveDirective === "worker-src";
  };

  /** @param name the name of the workers */
  constructor(address: URL, name: string) {
    this.#address = address;
    this.#name = name;
    // A browser does not start a worker from an address of another origin, but a worker may import from it.
    this.#needsBlob =
      !isNode && (address.origin !== globalThis.origin || blocked().has(address.href));
  }

  /** Starts a worker. The script's errors arrive later. */
  start(): ThreadWorker {
    const name = this.#name;
    if (isNode) {
      const { Worker } = builtin("node:worker_threads");
      // By default a worker gets the flags of the process. It refuses the flag --input-type, which
      // Node has when the program was given on the command line.
      return new Worker(this.#address, { workerData: name, name, execArgv: [] });
    }
    globalThis.addEventListener?.("securitypolicyviolation", this.#onViolation);
    if (this.#needsBlob) this.#blob ??= this.#makeBlob();
    const address = trusted(this.#blob ?? this.#address.href);
    const worker = new Worker(address, { type: "module", name }) as unknown as ThreadWorker;
    if (!this.#needsBlob) this.#direct.add(worker);
    return worker;
  }

  /**
   * Whether another worker may start after this one has failed; all workers then start from a blob.
   * On an isolated page, a browser blocks the script of a worker whose response lacks the header
   * Cross-Origin-Embedder-Policy, which some servers send only for documents. A worker from a blob
   * inherits the policy of its page.
   */
  mayRetry(worker: object, { message }: Failure): boolean {
    // The error of a blocked script has no message.
    if (message || this.#isRefused || !this.#direct.has(worker)) return false;
    if (globalThis.crossOriginIsolated !== true) return false;
    blocked().add(this.#address.href);
    this.#needsBlob = true;
    return true;
  }

  /** The reason why no worker starts. */
  explain({ name, message }: Failure): string {
    const { href, origin } = this.#address;
    const isForeign = origin !== globalThis.origin;
    const start = `a worker could not be started from ${href}`;
    if (this.#isRefused && this.#needsBlob && !isForeign)
      return (
        `${start}: it is missing, or its response lacks the header Cross-Origin-Embedder-Policy: require-corp, ` +
        "which an isolated page needs unless its content security policy has worker-src blob:"
      );
    if (this.#isRefused) {
      const source = isForeign ? `blob: ${origin}` : "'self'";
      return `the content security policy of the page refuses workers from ${href}: it needs worker-src ${source}`;
    }
    if (name === "TypeError" && "trustedTypes" in globalThis && policy === undefined)
      return "the page requires trusted types: its content security policy needs trusted-types heed";
    return message ? `${start}: ${message}` : start;
  }

  /** Frees the resources of the start, when all workers have loaded the script or have failed. */
  release(): void {
    globalThis.removeEventListener?.("securitypolicyviolation", this.#onViolation);
    if (this.#blob !== undefined) URL.revokeObjectURL(this.#blob);
    this.#blob = undefined;
  }

  #makeBlob(): string {
    const text = `import ${JSON.stringify(this.#address.href)};`;
    return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
}
