/**
 * Opens the console while the service is away, and makes it installable. It keeps the page, script and style of one build (`version`, `shell`:
 * scripts/bundle-console.mjs) and nothing else, so never an answer of the API. Every opening asks the service first.
 */
addEventListener('install', (event) => {
  skipWaiting();
  event.waitUntil(caches.open(version).then((cache) => cache.addAll(['/', ...shell])));
});

addEventListener('activate', (event) => {
  const dropOthers = async () => {
    for (const name of await caches.keys()) if (name !== version) await caches.delete(name);
    await clients.claim();
  };
  event.waitUntil(dropOthers());
});

/** What a proxy answers for a service that is away. */
const away = [502, 503, 504];

/** Without the query, so that a shared address is not sent. Redirects of a proxy are the browser's to follow. */
async function openPage() {
  const asked = fetch('/', { redirect: 'manual' });
  const answer = await asked.catch(() => undefined);
  if (answer !== undefined && !away.includes(answer.status)) return answer;
  return (await caches.match('/')) ?? asked;
}

addEventListener('fetch', (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (origin !== location.origin) return;
  if (pathname === '/' && event.request.mode === 'navigate') event.respondWith(openPage());
  if (shell.includes(pathname)) event.respondWith(caches.match(pathname).then((kept) => kept ?? fetch(event.request)));
});
