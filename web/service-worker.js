/**
 * Keeps the page for when there is no network, and isolates it (threads need that) on hosts that send no headers.
 * The build puts four lines before this file (see offline.ts): `files`, every file of the page except the models, and
 * `version`, a hash of them all; `models`, the files of the small models, and `modelsVersion`, a hash of all models.
 *
 * The network comes first, and the cache is used when the network fails. A new version of the page is therefore seen
 * immediately, and its files never mix with files of an old version. Models, and files whose names contain their hash,
 * are taken from the cache.
 */
const { scope } = self.registration;
const pageCache = `heed ${scope} page ${version}`;
const modelCache = `heed ${scope} models ${modelsVersion}`;

self.addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(pageCache);
    // Bypasses the browser's cache. Otherwise an old file under an unchanged name would be kept for ever.
    await cache.addAll(files.map((file) => new Request(file, { cache: "reload" })));
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

/**
 * The page asks for this once it has nothing else to load: then every room opens without a network. The language model
 * is too large for that; it is kept from the first time that its room opens.
 */
self.addEventListener("message", (event) => {
  if (event.data !== "keep models") return;
  const keep = async () => {
    const cache = await caches.open(modelCache);
    // One after the other, so that they do not delay other requests.
    for (const file of models) if (!(await cached(modelCache, file))) await cache.add(file);
  };
  // A file that did not arrive is requested again when it is used.
  event.waitUntil(keep().catch(() => {}));
});

self.addEventListener("activate", (event) => {
  const take = async () => {
    for (const name of await caches.keys()) {
      const isOld = name.startsWith(`heed ${scope} `) && name !== pageCache && name !== modelCache;
      if (isOld) await caches.delete(name);
    }
    await self.clients.claim();
  };
  event.waitUntil(take());
});

/** The same answer with the headers of isolation. A redirect that the page follows itself cannot be read. */
function isolated(response) {
  if (response.status === 0) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  const { status, statusText } = response;
  // Some answers may not have a body, not even an empty one.
  const body = [204, 205, 304].includes(status) ? null : response.body;
  return new Response(body, { status, statusText, headers });
}

function cached(cacheName, request) {
  // The address of a page may have a query, which no file depends on.
  return caches.match(request, { cacheName, ignoreSearch: true, ignoreVary: true });
}

async function fromCacheFirst(cacheName, event) {
  const { request } = event;
  const known = await cached(cacheName, request);
  if (known) return known;
  const response = await fetch(request);
  // An answer with a part of a file must not be stored as the file.
  if (response.status === 200) {
    const copy = response.clone();
    // The page does not wait for the storing: it shows the progress of a large file.
    const keep = async () => (await caches.open(cacheName)).put(request, copy);
    event.waitUntil(keep());
  }
  return response;
}

async function fromNetworkFirst(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const known = await cached(pageCache, request.mode === "navigate" ? "./" : request);
    if (known) return known;
    throw error;
  }
}

async function answer(event) {
  const { request } = event;
  const path = request.url.slice(scope.length);
  if (path.startsWith("models/")) return isolated(await fromCacheFirst(modelCache, event));
  if (path.startsWith("assets/")) return isolated(await fromCacheFirst(pageCache, event));
  return isolated(await fromNetworkFirst(request));
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const isOurs = request.method === "GET" && request.url.startsWith(scope);
  // Chromium's tools send requests of the mode "only-if-cached" in a form that fetch refuses.
  const canBeFetched = request.cache !== "only-if-cached" || request.mode === "same-origin";
  // The documentation is read with a network: it is not kept, and needs no headers.
  const isDocumentation = request.url.startsWith(`${scope}docs/`);
  if (isOurs && canBeFetched && !isDocumentation) event.respondWith(answer(event));
});
