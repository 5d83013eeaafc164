/**
 * The hostile set: each class of request, page or feed that was made to stop the service or to fill its memory, from a client with the least
 * right that reaches it. `feed` and `page`: the attacker has no token, but a source that the owner watches or a page that he saves.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Attacker, HostileSite, Right } from './attacker.ts';

export interface Stage {
  attacker: Attacker;
  site: HostileSite;
  /** Pages of ordinary text. */
  pageIds: readonly string[];
  /** A page of 12 MB. */
  largeId: string;
  /** A second model, with vectors for some pages. */
  models: readonly string[];
  /** Have the owner save this address, and wait until it is read. */
  save: (url: string) => Promise<void>;
  /** Have the owner watch this source, and wait until it is polled. */
  follow: (url: string) => Promise<void>;
}

export interface HostileClass {
  name: string;
  right: Right | 'feed' | 'page';
  attack: (stage: Stage) => Promise<void>;
}

/** Marks in an order that normalising has to mend. */
const marks = (count: number) => `a${'\u0301\u0316'.repeat(count / 2)}`;
const megabytes = (count: number, text = 'x') => text.repeat((count * 1_000_000) / text.length);
const html = (body: string, title = 'A page') => `<!doctype html><title>${title}</title><article>${body}</article>`;
const item = (link: string, title: string) => `<item><title>${title}</title><link>${link}</link></item>`;
const feed = (items: string) =>
  `<?xml version="1.0"?><rss version="2.0"><channel><title>F</title>${items}</channel></rss>`;
const sentence = 'The heron stands still in the shallow river and waits for a fish to come near. ';

const search = (body: object = {}) => ({ query: 'heron river', k: 10, ...body });
const dear = { k: 100, candidates: 1000, chunks_per_page: 10, suggest: 10 };

export const hostileClasses: readonly HostileClass[] = [
  {
    name: 'combining marks in a page, then quoted searches',
    right: 'page',
    attack: async ({ attacker, site, save }) => {
      await save(
        site.put('/marks', 'html', () => html(`<p>${sentence.repeat(20)}${marks(400_000)}</p>`, marks(4_000))),
      );
      await attacker.many(
        10,
        () => attacker.send('read', 'POST', '/v1/search', search({ query: '"stands still in the"' })),
        2,
      );
    },
  },
  {
    name: 'combining marks in queries and filters',
    right: 'read',
    attack: async ({ attacker }) => {
      await attacker.many(20, () => attacker.send('read', 'POST', '/v1/search', search({ query: marks(3_998) })), 5);
      await attacker.many(5, () =>
        attacker.send('read', 'POST', '/v1/search', search({ filters: { domain: `${marks(500_000)}.com` } })),
      );
      await attacker.many(3, () => attacker.send('read', 'GET', `/v1/entities/${encodeURIComponent(marks(900))}`));
    },
  },
  {
    name: 'queries of 4,000 ideographs, emoji, or one letter',
    right: 'read',
    attack: ({ attacker }) =>
      attacker.many(
        30,
        (no) => {
          const letter = ['漢', '\u{1F600}', 'a', 'ｶﾞ', '"a" '][no % 5];
          const query = letter.repeat(4_000 / letter.length);
          return attacker.send('read', 'POST', '/v1/search', search({ query, ...dear }));
        },
        5,
      ),
  },
  {
    name: 'hosts of thousands of labels in a feed',
    right: 'feed',
    attack: ({ site, follow }) =>
      follow(
        site.put('/labels', 'rss', () =>
          feed(
            Array.from({ length: 200 }, (_, no) => item(`http://${'a.'.repeat(4_000)}x${no}.com/`, `T ${no}`)).join(''),
          ),
        ),
      ),
  },
  {
    name: 'hosts of megabytes',
    right: 'read',
    attack: async ({ attacker }) => {
      const domain = `${'a.'.repeat(5_000_000)}com`;
      // The first is refused for its size.
      for (const each of [domain, domain.slice(-1_000_000)])
        await attacker.send('read', 'POST', '/v1/search', search({ filters: { domain: each } }));
      await attacker.send('write', 'POST', '/v1/forget', { domain });
      await attacker.send('write', 'POST', '/v1/pages', { url: `http://${domain}/`, body_extracted: 'x' });
    },
  },
  {
    name: 'batches of tool calls for a large page',
    right: 'read',
    attack: async ({ attacker, largeId }) => {
      const call = (id: number) => ({
        ...{ jsonrpc: '2.0', id, method: 'tools/call' },
        params: { name: 'get_page', arguments: { page_id: largeId, offset: id * 100_000, length: 40_000 } },
      });
      const batch = (length: number) => Array.from({ length }, (_, id) => call(id));
      // A batch of so many is refused; one of 20 is done.
      for (const length of [100, 20]) await attacker.many(3, () => sendMcp(attacker, batch(length)));
      await attacker.many(20, (id) => sendMcp(attacker, call(id)));
    },
  },
  {
    name: 'searches that find large pages',
    right: 'page',
    attack: async ({ attacker, site, save }) => {
      for (let no = 0; no < 8; no++) {
        const body = `${sentence.repeat(12)}${`pelican dive number ${no} over the bay. `.repeat(60_000)}`;
        await save(site.put(`/large/${no}`, 'html', () => html(`<p>${body}</p>`, `Pelicans ${no}`)));
      }
      await attacker.many(10, () => attacker.send('read', 'POST', '/v1/search', search({ query: 'pelican bay' })), 2);
      await attacker.many(
        10,
        () => attacker.send('read', 'POST', '/v1/search', search({ query: '"dive number 7 over"' })),
        2,
      );
    },
  },
  {
    name: 'the whole query log, after searches with 1,000 candidates',
    right: 'read',
    attack: async ({ attacker }) => {
      await attacker.many(
        300,
        () => attacker.send('read', 'POST', '/v1/search', search({ candidates: 1000, k: 100 })),
        4,
      );
      await attacker.many(4, () => attacker.send('read', 'GET', '/v1/admin/query-log?limit=1000'));
      for (let no = 0; no < 20; no++)
        await attacker.open(attacker.head('read', 'GET', '/v1/admin/query-log?limit=1000'));
      await delay(3_000);
    },
  },
  {
    name: 'evaluation and metrics of a full log',
    right: 'read',
    attack: async ({ attacker }) => {
      const { runs } = await attacker.ask<{ runs: { query_id: string; final_pages: { page_id: string }[] }[] }>(
        'read',
        'GET',
        '/v1/admin/query-log?limit=300',
      );
      await attacker.many(
        runs.length,
        async (no) => {
          const { query_id, final_pages } = runs[no];
          const [page] = final_pages;
          if (page !== undefined)
            await attacker.send('read', 'POST', '/v1/feedback', { query_id, page_id: page.page_id, relevant: true });
        },
        10,
      );
      await attacker.many(20, () => attacker.send('read', 'POST', '/v1/admin/eval/score', { k: 1000 }));
      await attacker.many(20, () => attacker.send('read', 'GET', '/v1/admin/metrics/summary'));
      await attacker.many(20, () =>
        attacker.send('read', 'GET', '/v1/admin/metrics/timeseries?metric=http_request_duration_seconds&step=0.001'),
      );
    },
  },
  {
    name: 'texts of 15 MB in every field, then lists',
    right: 'write',
    attack: async ({ attacker }) => {
      const text = megabytes(15);
      const page = { url: 'https://texts.example/', body_extracted: sentence };
      const watch = { url: 'http://127.0.0.1:9/feed', enabled: false };
      await attacker.send('write', 'POST', '/v1/forget', { url: 'https://texts.example/forgotten', reason: text });
      for (const field of ['title', 'source', 'url', 'author'])
        await attacker.send('write', 'POST', '/v1/pages', { ...page, [field]: text });
      await attacker.send('write', 'POST', '/v1/watches', { ...watch, title: text });
      await attacker.send('write', 'POST', '/v1/watches', { ...watch, config: { a: text } });
      await attacker.send('write', 'POST', '/v1/models', {
        provider: text,
        model_name: text,
        dim: 8,
        max_input_tokens: 8,
      });
      // Routes that only read refuse 15 MB for the size.
      for (const each of [text, megabytes(0.5)]) {
        await attacker.send('read', 'POST', '/v1/feedback', { query_id: each, page_id: each, relevant: true });
        await attacker.send('read', 'POST', '/v1/pages/status/batch', { page_ids: [each] });
      }
      for (const path of ['/v1/blacklist', '/v1/watches', '/v1/jobs?limit=1000', '/v1/models']) {
        await attacker.send('read', 'GET', path);
      }
      await attacker.send('read', 'POST', '/v1/search', search());
    },
  },
  {
    name: 'addresses and metadata of megabytes',
    right: 'write',
    attack: async ({ attacker }) => {
      const add = (page: object) => attacker.send('write', 'POST', '/v1/pages', { body_extracted: sentence, ...page });
      await add({ url: `https://long.example/${megabytes(15, '%e4')}` });
      await add({ url: `https://long.example/?${megabytes(15, '%61&')}` });
      const keys = Object.fromEntries(Array.from({ length: 130_000 }, (_, no) => [`k${no}`, no]));
      await add({ url: 'https://keys.example/', metadata: keys });
      await add({ url: 'https://keys.example/2', metadata: { text: megabytes(15) } });
      await attacker.many(
        10,
        () => attacker.send('read', 'POST', '/v1/search', search({ filters: { domain: 'keys.example' } })),
        2,
      );
      await attacker.send('read', 'GET', `/v1/pages/x?${'%61&'.repeat(3_900)}`);
    },
  },
  {
    name: 'answers of 12 MB that nobody reads',
    right: 'read',
    attack: async ({ attacker, largeId }) => {
      for (let no = 0; no < 150; no++) {
        await attacker.open(attacker.head('read', 'GET', `/v1/pages/${largeId}${no % 3 === 0 ? '/chunks' : ''}`));
      }
      await delay(5_000);
      await attacker.many(10, () => attacker.send('read', 'POST', '/v1/search', search()), 2);
      await attacker.many(10, () => attacker.send('read', 'GET', `/v1/pages/${largeId}`));
    },
  },
  {
    name: 'large pages and chunk lists, read by many',
    right: 'read',
    attack: ({ attacker, largeId }) =>
      attacker.many(
        60,
        (no) => attacker.send('read', 'GET', `/v1/pages/${largeId}${['', '/chunks', '/similar', '/status'][no % 4]}`),
        20,
      ),
  },
  {
    name: 'connections that say nothing, and floods of headers',
    right: 'none',
    attack: async ({ attacker }) => {
      const fields = Array.from({ length: 1_900 }, (_, no) => `x${no}:1`);
      for (let no = 0; no < 2_000; no++) {
        await attacker.open(
          no % 2 === 0 ? '' : `${attacker.head('none', 'GET', '/healthz', ...fields)}GET / HTTP/1.1\r\nx:`,
        );
      }
      await delay(3_000);
      await attacker.many(500, () => attacker.send('none', 'GET', '/v1/jobs'), 50);
    },
  },
  {
    name: 'bodies as large as they may be, and larger ones, that stop before their end',
    right: 'read',
    attack: async ({ attacker }) => {
      const allowed = [
        ['/v1/search', 1_000_000],
        ['/mcp', 4_000_000],
      ] as const;
      const sizes = [...allowed, ...allowed, ['/v1/search', 16_700_000] as const];
      for (let no = 0; no < 400; no++) {
        const [path, size] = sizes[no % sizes.length];
        const head = attacker.head('read', 'POST', path, 'content-type: application/json', `content-length: ${size}`);
        await attacker.open(`${head}{"query":"${'x'.repeat(size - 100)}`);
      }
      await delay(5_000);
      await attacker.many(10, () => attacker.send('read', 'POST', '/v1/search', search()), 2);
    },
  },
  {
    name: 'bodies in pieces of a byte',
    right: 'read',
    attack: async ({ attacker }) => {
      const crumbs = '1\r\nx\r\n'.repeat(1_000_000);
      for (const [right, path] of [
        ['none', '/v1/search'],
        ['read', '/v1/search'],
        ['read', '/mcp'],
      ] as const) {
        const head = attacker.head(right, 'POST', path, 'content-type: application/json', 'transfer-encoding: chunked');
        await attacker.many(4, () => attacker.exchange(head + crumbs));
      }
    },
  },
  {
    name: 'parts of a large page, each on a connection of its own',
    right: 'read',
    attack: async ({ attacker, largeId }) => {
      const parts = ['?offset=1', '?length=1000000000', '?offset=6000000'];
      for (let no = 0; no < 100; no++) {
        const path = `/v1/pages/${largeId}${parts[no % parts.length]}`;
        (await attacker.open(attacker.head('read', no % 5 === 0 ? 'HEAD' : 'GET', path))).resume();
      }
      await delay(5_000);
    },
  },
  {
    name: 'a hundred connections of 32 requests that nobody may make',
    right: 'none',
    attack: async ({ attacker }) => {
      for (const path of ['/v1/jobs', '/nope', '/readyz']) {
        for (let no = 0; no < 100; no++) await attacker.open(attacker.head('none', 'GET', path).repeat(32));
        await delay(2_000);
      }
    },
  },
  {
    name: 'tool calls that list large watches, and deep ids',
    right: 'write',
    attack: async ({ attacker }) => {
      const config = Object.fromEntries(Array.from({ length: 32 }, (_, no) => [`k${no}`, 'é'.repeat(1_000)]));
      const watch = { enabled: false, title: 't'.repeat(4_000), config };
      await attacker.many(
        500,
        (no) => attacker.send('write', 'POST', '/v1/watches', { ...watch, url: `https://large.example/${no}` }),
        20,
      );
      const call = (id: number) => ({
        ...{ jsonrpc: '2.0', id, method: 'tools/call' },
        params: { name: 'list_watches', arguments: { limit: 100 } },
      });
      await attacker.many(40, (id) => sendMcp(attacker, call(id)), 20);
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
      const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${deep}}}`;
      await attacker.many(5, () => attacker.send('read', 'POST', '/mcp', cancelled));
    },
  },
  {
    name: '10,000 requests on one connection',
    right: 'read',
    attack: async ({ attacker }) => {
      const read = await attacker.open(attacker.head('read', 'GET', '/v1/jobs?limit=100').repeat(5_000));
      await attacker.open(attacker.head('read', 'GET', '/v1/jobs?limit=1000').repeat(5_000)); // never read
      read.resume();
      await delay(8_000);
    },
  },
  {
    name: 'deep, broken and crowded JSON',
    right: 'read',
    attack: async ({ attacker }) => {
      // The large ones are refused for their size, the small ones are read.
      const bodies = [15, 1].flatMap((size) => [
        megabytes(size, '['),
        megabytes(size, '{"a":'),
        `[${megabytes(size, '{},')}{}]`,
        `{"query":"${megabytes(size, '\\u0001')}"}`,
        `{"queries":[${megabytes(size, '"a",')}"a"]}`,
      ]);
      await attacker.many(
        2 * bodies.length,
        (no) =>
          attacker.send('read', 'POST', no < bodies.length ? '/v1/search/batch' : '/mcp', bodies[no % bodies.length]),
        5,
      );
    },
  },
  {
    name: 'subscribers that do not read',
    right: 'read',
    attack: async ({ attacker, pageIds }) => {
      for (let no = 0; no < 100; no++) await attacker.open(attacker.head('read', 'GET', '/v1/events'));
      const pages = pageIds.map((_, no) => ({ url: `https://events.example/${no}`, body_extracted: sentence }));
      await attacker.send('write', 'POST', '/v1/pages/batch', { pages: pages.slice(0, 100) });
      await delay(3_000);
    },
  },
  {
    name: 'the dearest searches, twenty in a batch, ten at once',
    right: 'read',
    attack: async ({ attacker, models }) => {
      const queries = Array.from({ length: 20 }, (_, no) => `${sentence.repeat(40)} ${no}`.slice(0, 3_900));
      await attacker.many(10, () => attacker.send('read', 'POST', '/v1/search/batch', { queries, ...dear }), 10);
      await attacker.many(
        10,
        () => attacker.send('read', 'POST', '/v1/compare', { query: queries[0], models, k: 100, candidates: 1000 }),
        10,
      );
    },
  },
  {
    name: 'pages of millions of elements',
    right: 'page',
    attack: async ({ site, save }) => {
      const bombs = [
        '<div>',
        '<',
        '<a href="/x">a</a>',
        '<table><tr><td>',
        '&lt;&amp;',
        `<p>${marks(30)}`,
        '<b><i>',
        '<!--',
        'a\u200b',
      ];
      for (const [no, bomb] of bombs.entries())
        await save(site.put(`/bomb/${no}`, 'html', () => html(megabytes(8, bomb))));
    },
  },
  {
    name: 'feeds of hundreds of thousands of items, giant titles, marks',
    right: 'feed',
    attack: async ({ site, follow }) => {
      await follow(site.put('/items', 'rss', () => feed('<item><link>/a</link></item>'.repeat(280_000))));
      await follow(
        site.put('/titles', 'rss', () =>
          feed(Array.from({ length: 9 }, (_, no) => item(`/t/${no}`, megabytes(1))).join('')),
        ),
      );
      await follow(
        site.put('/marked', 'rss', () =>
          feed(Array.from({ length: 50 }, (_, no) => item(`/m/${no}`, marks(30_000))).join('')),
        ),
      );
    },
  },
  {
    name: 'a domain of a thousand pages forgotten beside searches',
    right: 'write',
    attack: async ({ attacker }) => {
      for (let batch = 0; batch < 10; batch++) {
        const pages = Array.from({ length: 100 }, (_, no) => ({
          url: `https://d.crowd.example/${batch}/${no}`,
          body_extracted: `${sentence.repeat(5)} ${no}`,
        }));
        await attacker.send('write', 'POST', '/v1/pages/batch', { pages });
      }
      await Promise.all([
        attacker.send('write', 'POST', '/v1/forget', { domain: 'crowd.example' }),
        attacker.many(100, () => attacker.send('read', 'POST', '/v1/search', search(dear)), 4),
      ]);
    },
  },
  {
    name: 'topics found again and again',
    right: 'write',
    attack: async ({ attacker }) => {
      await attacker.many(100, () => attacker.send('write', 'POST', '/v1/clusters/recompute'), 5);
      await delay(5_000);
      const { runs } = await attacker.ask<{ runs: { id: string; finished_at: string | null }[] }>(
        'read',
        'GET',
        '/v1/clusters/runs',
      );
      const done = runs.find(({ finished_at }) => finished_at !== null);
      await attacker.many(50, () => attacker.send('read', 'GET', `/v1/clusters/projection?run_id=${done?.id}`), 10);
      await attacker.many(50, () => attacker.send('read', 'GET', '/v1/clusters?include_tombstoned=true'), 10);
    },
  },
  {
    name: 'models registered and filled, many at once',
    right: 'write',
    attack: async ({ attacker }) => {
      const model = { provider: 'fake', dim: 16, max_input_tokens: 512 };
      const ids = Array.from({ length: 20 }, (_, no) => `flood-${no}`);
      await attacker.many(
        ids.length,
        (no) => attacker.send('write', 'POST', '/v1/models', { ...model, model_name: `m${no}`, id: ids[no] }),
        5,
      );
      await attacker.many(
        ids.length,
        (no) => attacker.send('write', 'POST', `/v1/models/${ids[no]}/backfill`, { confirm: true }),
        5,
      );
      await delay(5_000);
      await attacker.many(ids.length, (no) => attacker.send('write', 'DELETE', `/v1/models/${ids[no]}`), 5);
    },
  },
  {
    name: 'watches and rules by the thousand, then lists',
    right: 'write',
    attack: async ({ attacker }) => {
      const add = (no: number) => ({ url: `https://w${no}.example/feed`, enabled: false, title: 't'.repeat(200) });
      await attacker.many(2_000, (no) => attacker.send('write', 'POST', '/v1/watches', add(no)), 20);
      await attacker.many(
        500,
        (no) => attacker.send('write', 'POST', '/v1/forget', { url: `https://rules.example/${no}` }),
        20,
      );
      await attacker.many(20, (no) => attacker.send('read', 'GET', no % 2 === 0 ? '/v1/watches' : '/v1/blacklist'));
    },
  },
  {
    name: 'batches of 64 MB',
    right: 'write',
    attack: ({ attacker }) => {
      const pages = Array.from({ length: 4 }, (_, no) => ({
        url: `https://batch.example/${no}`,
        html: megabytes(15, '<p>a</p>'),
      }));
      const body = JSON.stringify({ pages });
      return attacker.many(3, () => attacker.send('write', 'POST', '/v1/pages/batch', body));
    },
  },
];

function sendMcp(attacker: Attacker, body: unknown): Promise<unknown> {
  const text = JSON.stringify(body);
  const head = attacker.head(
    'read',
    'POST',
    '/mcp',
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    `content-length: ${text.length}`,
    'connection: close',
  );
  return attacker.exchange(head + text);
}
