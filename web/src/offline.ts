/**
 * Registers the service worker (see ../service-worker.js), which keeps the page for when there is no network and, on a
 * host that sends no headers of its own, isolates the page, so that the engine may have threads.
 */

const key = "heed-isolating";

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
  if (window.crossOriginIsolated) return;
  if (serviceWorker.controller) reloadOnce();
  else serviceWorker.addEventListener("controllerchange", reloadOnce, { once: true });
}
