/**
 * Registers the service worker (see web/service-worker.js). It caches the page and its models for offline use, and on a
 * host that sends no isolation headers it adds them, so that the engine can use threads.
 */

const key = "heed-isolating";

/** Delay in milliseconds, after which the first room has usually loaded. */
const quiet = 4000;

/** Asks the service worker to cache the small models of all rooms, unless the browser is in data-saving mode. */
function keepModels(serviceWorker: ServiceWorkerContainer): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  setTimeout(async () => {
    const { active } = await serviceWorker.ready;
    active?.postMessage("keep models");
  }, quiet);
}

/**
 * Reloads the page once, because isolation depends on the headers of the response. If one reload does not help, another
 * one will not either. Without storage a first load cannot be told from a second, so there is no reload.
 */
function reloadOnce(): void {
  try {
    if (sessionStorage.getItem(key) !== null) return;
    sessionStorage.setItem(key, "once");
  } catch {
    return;
  }
  location.reload();
}

export function keepOffline(): void {
  // In a frame the embedding page decides about isolation. Private windows may have no service workers.
  if (window !== window.top || !navigator.serviceWorker) return;
  const { serviceWorker } = navigator;
  // The page works without it, so a failure is not reported.
  serviceWorker.register("./service-worker.js", { updateViaCache: "none" }).catch(() => {});
  keepModels(serviceWorker);
  if (window.crossOriginIsolated) return;
  if (serviceWorker.controller) reloadOnce();
  else serviceWorker.addEventListener("controllerchange", reloadOnce, { once: true });
}
