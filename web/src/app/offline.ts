/**
 * Registers the service worker (see web/service-worker.js), which keeps the page and its models for when there is no
 * network and, on a host that sends no headers of its own, isolates the page, so that the engine may have threads.
 */

const key = "heed-isolating";

/** By then the first room has what it needs, in milliseconds. */
const quiet = 4000;

/** Has the models of all rooms kept, unless the person asked the browser to load as little as it can. */
function keepModels(serviceWorker: ServiceWorkerContainer): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  setTimeout(async () => {
    const { active } = await serviceWorker.ready;
    active?.postMessage("keep models");
  }, quiet);
}

/**
 * A page is isolated by the headers that it came with, so it takes one more load. Only one: where that does not help,
 * no second one will. Without storage there is no telling a first load from a second, so there is none.
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
  // In a frame the page is a guest: isolation is up to its host. Private windows may have no service workers.
  if (window !== window.top || !navigator.serviceWorker) return;
  const { serviceWorker } = navigator;
  // A page that works without it needs no words about a refusal.
  serviceWorker.register("./service-worker.js", { updateViaCache: "none" }).catch(() => {});
  keepModels(serviceWorker);
  if (window.crossOriginIsolated) return;
  if (serviceWorker.controller) reloadOnce();
  else serviceWorker.addEventListener("controllerchange", reloadOnce, { once: true });
}
