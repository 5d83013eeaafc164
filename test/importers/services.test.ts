/** Exports of services and programs, each as its documentation shows it: what is told, and all that is known of a page. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import sqlite from 'node-sqlite3-wasm';
import type { PageMetadata } from '../../src/domain/metadata.ts';
import { openSource } from '../../src/importers/open-source.ts';
import { temporaryFolder } from '../scope.ts';
import { readItems, writtenFile } from './read-items.ts';

interface Known {
  url: string;
  title: string | null;
  at: string | null;
  metadata: PageMetadata | null;
  html?: string;
  text?: string;
}

async function assertRead(t: TestContext, content: string, format: string, expected: Known[]): Promise<void> {
  const found = await readItems(writtenFile(t, content));
  const known = found.items.map(({ url, title, at, metadata, body_html, body_text }) => ({
    url,
    title,
    at: at === null ? null : new Date(at).toISOString(),
    metadata,
    ...(body_html !== null && { html: body_html }),
    ...(body_text !== null && { text: body_text }),
  }));
  assert.deepEqual({ format: found.format, items: known }, { format, items: expected });
}

/** The page that most exports have. */
const weir = (at: string | null, metadata: PageMetadata | null, more: Partial<Known> = {}): Known => ({
  url: 'https://weir.example/',
  title: 'The weir',
  at,
  metadata,
  ...more,
});

test('bookmarks of Google and Pinboard: without a doctype, in microseconds, marked to be read', async (t) => {
  const google = `<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8"><TITLE>Bookmarks</TITLE><H1>Bookmarks</H1>
    <DL><p><DT><H3 ADD_DATE="1437166399187482">Science</H3><DL><p>
    <DT><A HREF="https://weir.example/" ADD_DATE="1437166399187482">The weir</A></DL><p></DL><p>`;
  const at = '2015-07-17T20:53:19.187Z';
  await assertRead(t, google, 'bookmarks', [weir(at, { folder: 'Science' })]);
  const pinboard = `<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>Pinboard Bookmarks</TITLE><H1>Bookmarks</H1><DL><p>
    <DT><A HREF="https://weir.example/" ADD_DATE="1437166399" PRIVATE="1" TOREAD="1" TAGS="water,old mills">The weir</A>
    <DD>On fish ladders</DL></p>`;
  const metadata = { tags: ['water', 'old mills'], note: 'On fish ladders', status: 'unread' };
  await assertRead(t, pinboard, 'bookmarks', [weir('2015-07-17T20:53:19.000Z', metadata)]);
});

test('Pocket as HTML: two lists with the state as their heading', async (t) => {
  const page = `<!DOCTYPE html><html><head><meta charset="UTF-8"><title>Pocket Export</title></head><body><h1>Unread</h1><ul>
    <li><a href="https://weir.example/" time_added="1600322788" tags="water,mills">The weir</a></li></ul>
    <h1>Read Archive</h1><ul><li><a href="https://mill.example/" time_added="1600322789" tags="">The mill</a></li></ul></body></html>`;
  await assertRead(t, page, 'pocket', [
    weir('2020-09-17T06:06:28.000Z', { tags: ['water', 'mills'], status: 'unread' }),
    {
      url: 'https://mill.example/',
      title: 'The mill',
      at: '2020-09-17T06:06:29.000Z',
      metadata: { status: 'archive' },
    },
  ]);
});

test('Instapaper: the list is the folder, and the state if it is one of its own', async (t) => {
  const page =
    '<!DOCTYPE html><html><head><title>Instapaper: Export</title></head><body><h1>Unread</h1><ol><li><a href="https://weir.example/">The weir</a></ol></body></html>';
  await assertRead(t, page, 'instapaper', [weir(null, { folder: 'Unread', status: 'unread' })]);
  const rows = ['Archive', 'Starred', 'Fish'].map((list) => `https://weir.example/,The weir,,${list},`).join('\n');
  await assertRead(t, `URL,Title,Selection,Folder,Timestamp\n${rows}\n`, 'instapaper', [
    weir(null, { folder: 'Archive', status: 'archive' }),
    weir(null, { folder: 'Starred', starred: true }),
    weir(null, { folder: 'Fish' }),
  ]);
});

test('bookmarks of Chrome and of Firefox as JSON: folders within folders', async (t) => {
  const chrome = {
    checksum: 'c',
    roots: {
      bookmark_bar: {
        children: [
          {
            name: 'Water',
            type: 'folder',
            children: [
              { date_added: '13161017367315765', name: 'The weir', type: 'url', url: 'https://weir.example/' },
            ],
          },
          { date_added: '0', name: 'The mill', type: 'url', url: 'https://mill.example/' },
        ],
        name: 'Bookmarks bar',
        type: 'folder',
      },
      other: { children: [], name: 'Other bookmarks', type: 'folder' },
    },
    version: 1,
  };
  await assertRead(t, JSON.stringify(chrome, null, 3), 'chromium-bookmarks', [
    weir('2018-01-21T14:09:27.315Z', { folder: 'Bookmarks bar/Water' }),
    { url: 'https://mill.example/', title: 'The mill', at: null, metadata: { folder: 'Bookmarks bar' } },
  ]);
  const container = (title: string, children: unknown[], root?: string) => ({
    title,
    typeCode: 2,
    type: 'text/x-moz-place-container',
    ...(root && { root }),
    children,
  });
  const place = (uri: string, more = {}) => ({
    title: 'The weir',
    type: 'text/x-moz-place',
    dateAdded: 1463687035000000,
    uri,
    ...more,
  });
  const firefox = container(
    '',
    [
      container(
        'menu',
        [container('Water', [place('https://weir.example/', { tags: 'fish,mills' })])],
        'bookmarksMenuFolder',
      ),
      container('tags', [container('fish', [place('https://weir.example/')])], 'tagsFolder'),
    ],
    'placesRoot',
  );
  await assertRead(t, JSON.stringify(firefox), 'firefox-bookmarks', [
    weir('2016-05-19T19:43:55.000Z', { tags: ['fish', 'mills'], folder: 'menu/Water' }),
  ]);
});

test('Wallabag: its article, its annotations, its message that there is no article', async (t) => {
  const entry = {
    is_archived: 1,
    is_starred: 1,
    tags: ['water'],
    is_public: false,
    id: 1,
    title: 'The weir',
    url: 'https://weir.example/',
    content: '<p>Salmon pass it.</p>',
    created_at: '2016-09-08T11:55:58+0200',
    published_at: '2016-09-01T00:00:00+0200',
    published_by: ['Ann', 'Bo'],
    annotations: [{ text: 'check this', quote: 'Salmon pass it.', ranges: [] }],
    language: 'en',
  };
  const failed = {
    ...entry,
    is_archived: 0,
    is_starred: 0,
    tags: [],
    published_by: null,
    published_at: null,
    annotations: [],
    content:
      'wallabag can\'t retrieve contents. <a href="https://doc.wallabag.org/en/user/errors_during_fetching.html">Why?</a>',
  };
  const at = '2016-09-08T09:55:58.000Z';
  await assertRead(t, JSON.stringify([entry, failed]), 'wallabag', [
    weir(
      at,
      {
        tags: ['water'],
        author: 'Ann, Bo',
        published_at: '2016-09-01T00:00:00+0200',
        lang: 'en',
        status: 'archived',
        starred: true,
        highlights: ['Salmon pass it.\ncheck this'],
      },
      { html: '<p>Salmon pass it.</p>' },
    ),
    weir(at, { lang: 'en', status: 'unread', starred: false }),
  ]);
  const csv = `Title;URL;Content;Tags;"MIME Type";Language;"Creation date"\n"The weir";https://weir.example/;"<p>Salmon</p>";water,fish;text/html;en;"08/09/2016 11:55:58"\n`;
  await assertRead(t, csv, 'wallabag', [
    weir('2016-09-08T00:00:00.000Z', { tags: ['water', 'fish'], lang: 'en' }, { html: '<p>Salmon</p>' }),
  ]);
});

test('Pinboard and Delicious: JSON and XML', async (t) => {
  const post = {
    href: 'https://weir.example/',
    description: 'The weir',
    extended: 'On fish ladders',
    time: '2015-07-17T20:53:19Z',
  };
  const known = [
    weir('2015-07-17T20:53:19.000Z', { tags: ['water', 'mills'], note: 'On fish ladders', status: 'unread' }),
  ];
  await assertRead(
    t,
    JSON.stringify([{ ...post, shared: 'no', toread: 'yes', tags: 'water mills' }]),
    'pinboard',
    known,
  );
  const attributes = Object.entries({ ...post, tag: 'water mills', toread: 'yes' }).map(
    ([name, value]) => `${name}="${value}"`,
  );
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<posts user="x"><post ${attributes.join(' ')} /></posts>`;
  await assertRead(t, xml, 'pinboard', known);
  await assert.rejects(readItems(writtenFile(t, xml.replace('</posts>', ''))), { code: 'import', message: /cut off/ });
});

test('Readability: what was read is archived', async (t) => {
  const bookmark = {
    article__excerpt: 'Salmon pass it.',
    favorite: true,
    date_archived: '2016-09-08T11:55:58',
    article__url: 'https://weir.example/',
    date_added: '2016-09-07T10:00:00',
    archive: true,
    article__title: 'The weir',
  };
  await assertRead(t, JSON.stringify({ bookmarks: [bookmark], recommendations: [] }), 'readability', [
    weir('2016-09-07T10:00:00.000Z', { description: 'Salmon pass it.', status: 'archived', starred: true }),
  ]);
});

test('Raindrop.io: folder, note, excerpt, tags', async (t) => {
  const csv = `id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite
1,The weir,mine,Salmon pass it.,https://weir.example/,Water / Old,"fish, mills",2020-05-01T10:10:00.000Z,,,true\n`;
  const metadata = {
    tags: ['fish', 'mills'],
    folder: 'Water / Old',
    note: 'mine',
    description: 'Salmon pass it.',
    starred: true,
  };
  await assertRead(t, csv, 'raindrop', [weir('2020-05-01T10:10:00.000Z', metadata)]);
});

test('Readwise: a library of Reader, highlights with their notes, documents; a book has no address', async (t) => {
  const csv = `Title,URL,ID,Document tags,Saved date,Reading progress,Location,Seen
The weir,https://weir.example/,01a,"['water', ""miller's""]",2022-11-06 04:33:50+00:00,0.5,archive,True\n`;
  await assertRead(t, csv, 'readwise', [
    weir('2022-11-06T04:33:50.000Z', { tags: ['water', "miller's"], status: 'archive' }),
  ]);
  const highlight = { id: 1, text: 'Salmon pass it.', note: 'check', highlighted_at: '2022-11-06T04:33:50Z', tags: [] };
  const source = {
    user_book_id: 1,
    title: 'The weir',
    author: 'Ann',
    source_url: 'https://weir.example/',
    book_tags: [{ id: 1, name: 'water' }],
    document_note: 'mine',
    summary: 'On fish',
    highlights: [highlight, { ...highlight, text: 'Old.', note: '', highlighted_at: '2021-01-01T00:00:00Z' }],
  };
  const book = { user_book_id: 2, title: 'A book', source_url: null, highlights: [] };
  await assertRead(t, JSON.stringify({ count: 2, results: [source, book] }), 'readwise', [
    weir('2021-01-01T00:00:00.000Z', {
      tags: ['water'],
      note: 'mine',
      description: 'On fish',
      author: 'Ann',
      highlights: ['Salmon pass it.\ncheck', 'Old.'],
    }),
    { url: '', title: 'A book', at: null, metadata: null },
  ]);
  const document = {
    id: '01a',
    url: 'https://read.readwise.io/read/01a',
    source_url: 'https://weir.example/',
    title: 'The weir',
    tags: { water: { name: 'Water', type: 'manual' } },
    location: 'later',
    saved_at: '2022-11-06T04:33:50+00:00',
    reading_progress: 0.1,
    published_date: '2022-01-01',
  };
  await assertRead(t, JSON.stringify({ count: 1, nextPageCursor: null, results: [document] }), 'readwise', [
    weir('2022-11-06T04:33:50.000Z', { tags: ['Water'], published_at: '2022-01-01', status: 'later' }),
  ]);
});

test('Zotero: CSV, its own JSON, CSL JSON and RIS tell the same of a work; a DOI stands for an address', async (t) => {
  const csv = `"Key","Item Type","Publication Year","Author","Title","Publication Title","DOI","Url","Abstract Note","Date","Date Added","Access Date","Manual Tags","Notes"
"A","journalArticle","2020","Lovelace, Ann; Babbage, Bo","The weir","Water Today","10.1/weir","https://weir.example/","On fish","2020-05-01","2023-05-01 10:00:00","2023-05-02 10:00:00","water; mills","<p>mine</p>"\n`;
  const metadata = {
    tags: ['water', 'mills'],
    note: 'mine',
    description: 'On fish',
    author: 'Ann Lovelace, Bo Babbage',
    published_at: '2020-05-01',
    site_name: 'Water Today',
  };
  const known = weir('2023-05-01T10:00:00.000Z', metadata);
  await assertRead(t, csv, 'zotero', [{ ...known, metadata: { ...metadata, author: 'Lovelace, Ann; Babbage, Bo' } }]);
  const own = {
    itemType: 'journalArticle',
    title: 'The weir',
    url: 'https://weir.example/',
    publicationTitle: 'Water Today',
    abstractNote: 'On fish',
    date: '2020-05-01',
    dateAdded: '2023-05-01T10:00:00Z',
    creators: [
      { firstName: 'Ann', lastName: 'Lovelace', creatorType: 'author' },
      { firstName: 'Bo', lastName: 'Babbage', creatorType: 'author' },
    ],
    tags: [{ tag: 'water' }, { tag: 'mills', type: 1 }],
    notes: [{ note: 'mine' }],
  };
  const bibtex = {
    config: { id: 'x' },
    version: '7',
    collections: {},
    items: [own, { ...own, url: '', DOI: 'doi:10.1/weir' }],
  };
  await assertRead(t, JSON.stringify(bibtex), 'zotero', [known, { ...known, url: 'https://doi.org/10.1/weir' }]);
  const csl = {
    id: 'a',
    type: 'article-journal',
    title: 'The weir',
    'container-title': 'Water Today',
    abstract: 'On fish',
    note: 'mine',
    keyword: 'water, mills',
    URL: 'https://weir.example/',
    author: [
      { family: 'Lovelace', given: 'Ann' },
      { family: 'Babbage', given: 'Bo' },
    ],
    issued: { 'date-parts': [[2020, 5, 1]] },
    accessed: { 'date-parts': [['2023', 5, 1]] },
  };
  await assertRead(t, JSON.stringify([csl]), 'zotero', [{ ...known, at: '2023-05-01T00:00:00.000Z' }]);
  const ris = `TY  - JOUR\r\nTI  - The\r\n      weir\r\nAU  - Lovelace, Ann\r\nAU  - Babbage, Bo\r\nT2  - Water Today\r\nUR  - https://weir.example/
DA  - 2020-05-01\r\nY2  - 2023/05/01/\r\nKW  - water\r\nKW  - mills\r\nN1  - mine\r\nAB  - On fish\r\nER  - \r\n\r\nTY  - JOUR\r\nDO  - 10.1/mill\r\nER  - \r\n`;
  await assertRead(t, ris, 'zotero', [
    { ...known, at: '2023-05-01T00:00:00.000Z', metadata: { ...metadata, author: 'Lovelace, Ann; Babbage, Bo' } },
    { url: 'https://doi.org/10.1/mill', title: null, at: null, metadata: null },
  ]);
  const old = 'TY  - BOOK\r\nUR  - https://weir.example/\r\nPY  - 1843/10//\r\nY2  - 2021/05/06/10:11:12\r\nER  - \r\n';
  const read = { url: 'https://weir.example/', title: null, at: '2021-05-06T10:11:12.000Z' };
  await assertRead(t, old, 'zotero', [{ ...read, metadata: { published_at: '1843-10' } }]);
});

test('Hypothesis: annotations of a page become one item, of its interface and of its program', async (t) => {
  const annotation = (text: string, exact: string | null, created: string, tags: string[] = []) => ({
    id: text,
    created,
    user: 'acct:x@hypothes.is',
    uri: 'https://weir.example/',
    text,
    tags,
    target: [
      {
        source: 'https://weir.example/',
        ...(exact !== null && {
          selector: [{ type: 'RangeSelector' }, { type: 'TextQuoteSelector', exact, prefix: '', suffix: '' }],
        }),
      },
    ],
    document: { title: ['The weir'] },
  });
  const other = { ...annotation('', 'Flour.', '2022-01-01T00:00:00Z'), uri: 'https://mill.example/', document: {} };
  const rows = [
    annotation('check', 'Salmon pass it.', '2022-11-06T04:33:50.123456+00:00', ['fish']),
    other,
    annotation('a note on the page', null, '2022-11-05T00:00:00+00:00', ['water', 'fish']),
  ];
  const known = [
    weir('2022-11-05T00:00:00.000Z', {
      tags: ['fish', 'water'],
      note: 'a note on the page',
      highlights: ['Salmon pass it.\ncheck'],
    }),
    { url: 'https://mill.example/', title: null, at: '2022-01-01T00:00:00.000Z', metadata: { highlights: ['Flour.'] } },
  ];
  await assertRead(t, JSON.stringify({ total: 3, rows }), 'hypothesis', known);
  await assertRead(
    t,
    JSON.stringify({ export_date: 'x', export_userid: 'y', annotations: rows }, null, 2),
    'hypothesis',
    known,
  );
});

test('the history of Safari: visits with their titles, and why others are left out', async (t) => {
  const path = join(temporaryFolder(t), 'History.db');
  const database = new sqlite.Database(path);
  database.exec(`
    CREATE TABLE history_items(id INTEGER PRIMARY KEY, url TEXT, domain_expansion TEXT, visit_count INTEGER);
    CREATE TABLE history_visits(id INTEGER PRIMARY KEY, history_item INTEGER, visit_time REAL, title TEXT, load_successful BOOLEAN DEFAULT 1,
      redirect_source INTEGER, redirect_destination INTEGER);
    INSERT INTO history_items VALUES (1, 'https://weir.example/', 'weir', 2), (2, 'http://weir.example/', 'weir', 1);
    INSERT INTO history_visits VALUES (1, 2, 700000000.5, NULL, 1, NULL, 2), (2, 1, 700000000.5, 'The weir', 1, 1, NULL),
      (3, 1, 700000100, 'Not found', 0, NULL, NULL), (4, 1, 700000200, 'The weir, again', 1, NULL, NULL);`);
  database.close();
  const source = await openSource(path, null);
  const items = [];
  for await (const { url, title, at, visits } of source.items()) items.push({ url, title, at, visits });
  assert.deepEqual([source.format, source.isHistory], ['safari', true]);
  const at = Date.UTC(2001, 0, 1) + 700_000_000_500;
  assert.deepEqual(items, [
    { url: 'https://weir.example/', title: 'The weir', at, visits: 2 },
    { url: 'https://weir.example/', title: 'The weir, again', at: at + 199_500, visits: 2 },
  ]);
  assert.deepEqual(await source.leftOut(), { 'steps of a redirect': 1, 'pages that did not load': 1 });
});

test('of thousands of highlights those that fit are kept, and the others are counted', async (t) => {
  const highlights = Array.from({ length: 5000 }, (_, no) => ({ text: `Passage ${no}`, note: null }));
  const source = { user_book_id: 1, title: 'Long', source_url: 'https://long.example/', highlights };
  const { items } = await readItems(writtenFile(t, JSON.stringify({ results: [source] })));
  const { highlights: kept, highlights_left_out } = items[0]?.metadata ?? {};
  assert.ok(Array.isArray(kept) && JSON.stringify(kept).length < 30_000);
  assert.deepEqual([kept.length, highlights_left_out, kept.at(-1)], [300, 4700, 'Passage 299']);
});
