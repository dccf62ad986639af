// The page's interface to the engine in a worker.

import { HeedError, refuse } from "../core/error.js";
import { checkArgument, isFunction } from "../core/validate.js";
import type { HeedInfo } from "../heed.js";
import { Connection, workerEnded } from "./connection.js";
import type { WorkerSource } from "./ports.js";
import { engineId, rootId, type StartOptions } from "./protocol.js";
import { handlesIn, type Origin, originKey, RemoteObject, remoteAt, Session } from "./remote.js";
import { RemoteScope } from "./scopes.js";

/** The properties of a facade that are parts of the package or of the caller's script. */
const namespaces = ["nn", "optim", "safetensors", "models", "tasks"];

/** Starts workers, one after the other. */
export class RemoteEngine {
  readonly #workers: WorkerSource;
  readonly #options: StartOptions;
  #session!: Session;
  #info!: HeedInfo;

  constructor(workers: WorkerSource, options: StartOptions) {
    this.#workers = workers;
    this.#options = options;
  }

  get session(): Session {
    return this.#session;
  }

  get info(): HeedInfo {
    return this.#info;
  }

  async start(signal?: AbortSignal): Promise<void> {
    const connection = this.#connect();
    try {
      const { info } = await connection.start(signal);
      this.#info = Object.freeze(info);
    } catch (error) {
      if (!connection.mayRetry || signal?.aborted) throw error;
      await this.start(signal);
    }
  }

  #connect(): Connection {
    let connection: Connection;
    try {
      connection = new Connection(this.#workers, this.#options);
    } catch (cause) {
      if (cause instanceof HeedError) throw cause;
      const got =
        cause instanceof Error ? (this.#workers.explain?.(cause) ?? cause.message) : String(cause);
      throw refuse("worker", "worker", "to start a worker", got, { cause });
    }
    this.#session = new Session(connection, this.#options.maxMemory);
    return connection;
  }

  end(): void {
    this.#session.connection.end(workerEnded("dispose() was called"));
  }
}

/** The methods of a facade that run on the page. */
function ownMethods(engine: RemoteEngine, scope: RemoteScope<RemoteObject> | undefined) {
  return {
    dispose: () => engine.end(),
    toString() {
      const { version, variant, threads } = engine.info;
      const end = engine.session.connection.ended ? ", ended" : "";
      return `RemoteHeed(${version}, ${variant}, threads ${threads}${end})`;
    },
    async restart() {
      engine.session.connection.end(workerEnded("restart() was called"));
      await engine.start();
    },
    async scope<T>(run: (heed: object) => Promise<T> | T): Promise<T> {
      checkArgument("scope", run, isFunction);
      const own = new RemoteScope<RemoteObject>(scope);
      let kept: ReadonlySet<RemoteObject> = new Set();
      try {
        const result = await run(facade(engine, own));
        kept = RemoteObject.withNeeded(handlesIn(result));
        return result;
      } finally {
        for (const handle of own.close(kept)) handle.dispose();
      }
    },
    keep<T>(value: T): T {
      for (const handle of RemoteObject.withNeeded(handlesIn(value))) scope?.keep(handle);
      return value;
    },
  };
}

/** Returns an engine with a scope. Its methods call the worker, except for `ownMethods`. */
export function facade(engine: RemoteEngine, scope: RemoteScope<RemoteObject> | undefined): object {
  const own = ownMethods(engine, scope);
  const session = () => engine.session;
  const methods: Origin = { session, object: engineId, scope };
  const others: Origin = { session, object: rootId, scope };
  return new Proxy(own, {
    get(_, key) {
      if (key === originKey) return methods;
      if (key === Symbol.toStringTag) return "RemoteHeed";
      if (typeof key === "symbol" || key === "then") return undefined;
      if (key === "info") return engine.info;
      if (key === "isInterruptible") return engine.session.connection.isInterruptible;
      if (Object.hasOwn(own, key)) return own[key as keyof typeof own];
      const isNamespace = namespaces.includes(key);
      return remoteAt(isNamespace ? others : methods, [key], isNamespace);
    },
  });
}
