/** What cannot be imported says so in one line: other files, files of another format than the one named, damaged files. */
import assert from 'node:assert/strict';
import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import sqlite from 'node-sqlite3-wasm';
import { seededRandom } from '../../src/compute/seeded-random.ts';
import { type ImportFormat, importFormats } from '../../src/domain/import.ts';
import { formatRows } from '../../src/importers/formats.ts';
import { ImportError } from '../../src/importers/item-parts.ts';
import { readHistory, visitsLeftOut } from '../../src/importers/read-history.ts';
import { temporaryFolder } from '../scope.ts';
import { syntheticHistory, writeHistory } from './history-file.ts';
import { readItems, writtenFile } from './read-items.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const bookmarks =
  '<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><A HREF="https://a.example/" ADD_DATE="1600000000">A</A></DL>';
const pocket = 'title,url,time_added,tags,status\nA,https://a.example/,1600000000,,unread\n';

test('every format that can be named has its row', () => {
  assert.deepEqual(new Set(formatRows.map(({ format }) => format)), new Set(importFormats));
});

test('a picture is no format, whichever is named', async (t) => {
  for (const format of [null, ...importFormats]) {
    const refused = readItems(writtenFile(t, png), format);
    await assert.rejects(refused, { code: 'import', message: /is neither text nor a database/ }, String(format));
  }
});

test('what is known and cannot be imported says why, and what to do instead', async (t) => {
  const clipping = (title: string) =>
    `${title}\r\n- Your Highlight on page 12 | Location 170-172 | Added on Monday, 3 June 2024 10:00:00\r\n\r\nSalmon pass it.\r\n==========\r\n`;
  const cases: [content: string | Buffer, message: RegExp][] = [
    [`\ufeff${clipping('The weir (Ann)')}${clipping('The mill (Bo)')}`, /Kindle's clippings: .* no address/],
    [Buffer.from('mozLz40\0\x10\0\0\0', 'latin1'), /compressed backup of Firefox's bookmarks: .*JSON/],
    [Buffer.from('bplist00\xd1\x01', 'latin1'), /property list of Apple without bookmarks: .*Bookmarks\.plist/],
    [
      '<?xml version="1.0"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "x">\n<plist/>',
      /property list of Apple without bookmarks/,
    ],
    [Buffer.from('\x1f\x8b\x08\0', 'latin1'), /is damaged: it cannot be unpacked/],
    ['name,url,username,password\nA,https://a.example/,ann,secret\n', /passwords of a browser/],
    [
      'Highlight,Book Title,Book Author,Amazon Book ID,Note\nSalmon,The weir,Ann,,\n',
      /Readwise's highlights .* no addresses/,
    ],
    ['% Zotero\n@article{ann2020,\n  title = {The weir},\n}\n', /BibTeX: write the library as CSL JSON/],
    ['', /is empty/],
    ['\n  \n', /is empty/],
    ['Dear diary,\n', /not recognised/],
    ['{"settings": [{"a": 1}]}', /not recognised/],
    [
      '<!doctype html><html><body><dl><dt><a href="https://a.example/">A glossary</a></dl></body></html>',
      /not recognised/,
    ],
  ];
  for (const [content, message] of cases) {
    await assert.rejects(readItems(writtenFile(t, content)), (error: Error) => {
      assert.match(error.message, message);
      assert.ok(!error.message.includes('\n'), 'one line');
      return true;
    });
  }
});

test('an export without entries has none', async (t) => {
  const netscape = '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<H1>Bookmarks</H1>\n<DL><p>\n</DL><p>\n';
  const zip = Buffer.from(`PK\x05\x06${'\0'.repeat(18)}`, 'latin1');
  const files = [zip, '[]', ' [ ]\n', '{}', '{"bookmarks": []}', 'url,title\n', 'url,time_added,title\n', netscape];
  for (const content of [...files, '<?xml version="1.0"?><opml version="2.0"><body></body></opml>'])
    assert.deepEqual((await readItems(writtenFile(t, content))).items, [], String(content));
});

test('a format that is named is refused where the content is another, or has no page as that', async (t) => {
  const cases: [content: string, format: ImportFormat, message: RegExp][] = [
    [bookmarks, 'urls', /is bookmarks by its content, not urls: leave the format out/],
    [pocket, 'instapaper', /is pocket by its content, not instapaper/],
    [pocket, 'urls', /is pocket by its content/],
    ['Dear diary,\nnothing happened\n', 'urls', /has no address of a page as urls/],
    ['name,age\nAnn,3\n', 'pocket', /has no address of a page as pocket/],
    ['[{"name": "Ann"}]', 'linkding', /has no address of a page as linkding/],
    ['<p>Hello</p>', 'bookmarks', /has no address of a page as bookmarks/],
    ['<p>Hello</p>', 'omnivore', /cannot be omnivore, which is JSON/],
    ['[{"name": "Ann"}]', 'chromium', /cannot be chromium, which is SQLite/],
    ['https://a.example/\n', 'pocket', /is urls by its content, not pocket/],
  ];
  for (const [content, format, message] of cases) {
    await assert.rejects(
      readItems(writtenFile(t, content), format),
      { code: 'import', message },
      `${format}: ${content}`,
    );
  }
});

test('a file that is not recognised is read as the format that is named, where that finds pages', async (t) => {
  const page = '<!doctype html><html><body><ul><li><a href="https://a.example/">A</a></ul></body></html>';
  const list = 'To read:\nhttps://a.example/\n';
  const csv = 'url,name\nhttps://a.example/,A\n';
  for (const [content, format] of [
    [page, 'bookmarks'],
    [list, 'urls'],
    [csv, 'pocket'],
  ] as const) {
    const { items } = await readItems(writtenFile(t, content), format);
    assert.equal(items.at(-1)?.url, 'https://a.example/', format);
  }
});

test('a recognised file without items is read as such', async (t) => {
  assert.deepEqual(await readItems(writtenFile(t, '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p></DL>')), {
    format: 'bookmarks',
    items: [],
  });
  assert.deepEqual((await readItems(writtenFile(t, 'title,url,time_added,tags,status\n'))).items, []);
});

test('a history that is cut off is told in a line, wherever it is cut', async (t) => {
  const path = join(temporaryFolder(t), 'History');
  writeHistory(path, syntheticHistory(500));
  const { length } = readFileSync(path);
  for (const share of [0.01, 0.3, 0.7, 0.95]) {
    const cut = writtenFile(t, readFileSync(path), 'History');
    truncateSync(cut, Math.floor(length * share));
    await assert.rejects(readItems(cut), { code: 'import' }, String(share));
  }
});

test('a tree of bookmarks that is cut off is told in a line', async (t) => {
  const cut = '{"roots": {"bookmark_bar": {"children": [{"type": "url", "url": "https://a.exa';
  await assert.rejects(readItems(writtenFile(t, cut)), { code: 'import', message: /no JSON, or cut off/ });
});

test('a history that is damaged in its midst gives what is before that, and says what is wrong in a line', async (t) => {
  const path = join(temporaryFolder(t), 'History');
  writeHistory(path, syntheticHistory(2000));
  const bytes = readFileSync(path);
  const page = 4096;
  const damagedAt = Math.floor(bytes.indexOf('/page/1500') / page) * page;
  bytes.fill(0x55, damagedAt, damagedAt + page);
  let items = 0;
  const reading = (async () => {
    for await (const _ of readHistory(writtenFile(t, bytes), 'chromium')) items++;
  })();
  await assert.rejects(reading, (error) => error instanceof ImportError && /damaged/.test(error.message));
  assert.ok(items > 0, 'what is before it');
});

test('long addresses and titles are not read once for each visit', async (t) => {
  const path = join(temporaryFolder(t), 'History');
  const database = new sqlite.Database(path);
  database.exec(`CREATE TABLE urls(id INTEGER PRIMARY KEY, url TEXT, title TEXT, visit_count INTEGER, last_visit_time INTEGER, hidden INTEGER DEFAULT 0);
    CREATE TABLE visits(id INTEGER PRIMARY KEY, url INTEGER, visit_time INTEGER, transition INTEGER);
    INSERT INTO urls VALUES (1, 'https://a.example/', hex(zeroblob(500000)), 1, 1, 0), (2, 'https://b.example/' || hex(zeroblob(500000)), 'b', 1, 1, 0), (3, 'https://c.example/', 'c', 1, 1, 0);
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)
    INSERT INTO visits SELECT NULL, 1 + i % 3, 1, ${0x20000001} FROM n`);
  database.close();
  let characters = 0;
  const titles = new Map<string, Set<string | null>>();
  for await (const { url, title } of readHistory(path, 'chromium')) {
    characters += url.length + (title?.length ?? 0);
    titles.set(url, (titles.get(url) ?? new Set()).add(title));
  }
  assert.deepEqual(
    [...titles],
    [
      ['https://a.example/', new Set([null])],
      ['https://c.example/', new Set(['c'])],
    ],
  );
  assert.ok(characters < 100_000, `${characters} characters`);
  assert.deepEqual(await visitsLeftOut(path, 'chromium'), { 'addresses that are too long': 1000 });
});

test('a database that is to compute what a history has is refused, as is one whose rows never end', async (t) => {
  const endless = "title TEXT GENERATED ALWAYS AS (replace(hex(zeroblob(400000000)), '0', 'ab')) VIRTUAL";
  const rest = 'visit_count INTEGER, last_visit_time INTEGER, hidden INTEGER DEFAULT 0';
  const visits = 'CREATE TABLE visits(id INTEGER PRIMARY KEY, url INTEGER, visit_time INTEGER, transition INTEGER);';
  const row = `INSERT INTO urls(url, hidden) VALUES ('https://a.example/', 0); INSERT INTO visits VALUES (1, 1, 1, ${0x20000001});`;
  const cases: [sql: string, message: RegExp][] = [
    [
      `CREATE TABLE urls(id INTEGER PRIMARY KEY, url TEXT, ${rest}); ${visits} ${row} ALTER TABLE urls ADD ${endless}`,
      /table urls is virtual or has computed columns/,
    ],
    [
      `CREATE VIRTUAL TABLE urls USING fts5(id, url, title, visit_count, hidden); ${visits}`,
      /table urls is virtual or has computed columns/,
    ],
    [`CREATE TABLE urls(id INTEGER, url TEXT, title TEXT, ${rest}); ${visits} ${row}`, /urls has no key/],
    [
      `CREATE TABLE urls(id INTEGER PRIMARY KEY, url TEXT, title TEXT, ${rest}); CREATE VIEW visits AS SELECT 1; ${row.split(';')[0]}`,
      /no history of/,
    ],
    [
      `CREATE TABLE moz_places(id INTEGER PRIMARY KEY, url, title, visit_count INTEGER, hidden INTEGER, last_visit_date INTEGER);
        CREATE TABLE moz_historyvisits(id INTEGER PRIMARY KEY, place_id INTEGER, visit_date INTEGER, visit_type INTEGER);
        CREATE VIEW moz_bookmarks AS SELECT 1 AS id, 1 AS type, 1 AS fk, 1 AS parent, 'a' AS title, 1 AS dateAdded, 'g' AS guid`,
      /table moz_bookmarks is virtual or has computed columns/,
    ],
  ];
  for (const [sql, message] of cases) {
    const path = join(temporaryFolder(t), 'History');
    const database = new sqlite.Database(path);
    database.exec(sql);
    database.close();
    await assert.rejects(readItems(path), { code: 'import', message });
  }
  // Inner pages of one tree, each of which has the next one for all its children: 14 rows to the power of eight.
  const path = join(temporaryFolder(t), 'History');
  const database = new sqlite.Database(path);
  database.exec(
    `PRAGMA page_size = 512; CREATE TABLE urls(id INTEGER PRIMARY KEY, url TEXT, title TEXT, ${rest}); ${visits} ${row}`,
  );
  const root = Number(database.get("SELECT rootpage FROM sqlite_master WHERE name = 'visits'")?.rootpage);
  database.exec('CREATE TABLE filler(a); INSERT INTO filler VALUES (zeroblob(4000));');
  database.close();
  const bytes = readFileSync(path);
  const page = (no: number) => bytes.subarray((no - 1) * 512, no * 512);
  const last = bytes.length / 512;
  const levels = [root, ...Array.from({ length: 7 }, (_, no) => last - 1 - no)];
  page(root).copy(page(last));
  levels.forEach((no, at) => {
    const child = levels[at + 1] ?? last;
    const inner = page(no);
    const cells = 14;
    inner.fill(0);
    inner[0] = 5;
    inner.writeUInt16BE(cells, 3);
    inner.writeUInt16BE(512 - cells * 5, 5);
    inner.writeUInt32BE(child, 8);
    for (let cell = 0; cell < cells; cell++) {
      const place = 512 - (cell + 1) * 5;
      inner.writeUInt16BE(place, 12 + 2 * cell);
      inner.writeUInt32BE(child, place);
      inner[place + 4] = 1;
    }
  });
  await assert.rejects(readItems(writtenFile(t, bytes)), { code: 'import', message: /its rows repeat/ });
});

test('a file that was damaged anywhere gives what can be read of it, or one line that says why not', async (t) => {
  const entry =
    '{"url":"https://a.example/","title":"A","tags":["x"],"is_archived":0,"is_starred":1,"content":"<p>é</p>"}';
  const samples = [
    bookmarks,
    pocket,
    `[${entry},${entry}]`,
    '{"roots":{"bookmark_bar":{"children":[{"type":"url","name":"é","url":"https://a.example/"}],"name":"b","type":"folder"}}}',
    '<?xml version="1.0"?><posts><post href="https://a.example/" description="A" tag="x y"/></posts>',
    'TY  - JOUR\nTI  - é\nUR  - https://a.example/\nER  - \n',
    '{"rows":[{"uri":"https://a.example/","user":"x","target":[{"selector":[{"type":"TextQuoteSelector","exact":"é"}]}],"text":"t"}]}',
    'https://a.example/\nhttps://b.example/\n',
  ];
  const random = seededRandom(7);
  const pick = (below: number) => Math.floor(random() * below);
  let whole = 0;
  for (const sample of samples) {
    for (let round = 0; round < 40; round++) {
      const bytes = Buffer.from(sample);
      for (let flip = 0; flip < 3; flip++) bytes[pick(bytes.length)] = pick(256);
      const damaged = round % 2 === 0 ? bytes : bytes.subarray(0, pick(bytes.length));
      try {
        const { items } = await readItems(writtenFile(t, damaged));
        whole += items.length;
      } catch (error) {
        assert.ok(
          error instanceof ImportError && !error.message.includes('\n'),
          `${damaged.toString('latin1')}: ${error}`,
        );
      }
    }
  }
  assert.ok(whole > 0);
});

test('an object where a text or number is expected is none', async (t) => {
  const hostile = { toString: 1, valueOf: 1 };
  const names = ['archived', 'starred', 'content', 'tags', 'visit_count', 'created', 'author', 'published', 'notes'];
  const fields = Object.fromEntries(names.map((name) => [name, hostile]));
  const issued = { 'date-parts': [[hostile, 2]] };
  for (const [entry, more] of [
    [fields, {}],
    [{ origin: {}, alternate: [], categories: [hostile], ...fields }, { canonicalUrl: 'https://a.example/' }],
    [{ type: 'webpage', issued }, { URL: 'https://a.example/' }],
  ]) {
    const { items } = await readItems(
      writtenFile(t, JSON.stringify([{ url: 'https://a.example/', ...entry, ...more }])),
    );
    assert.deepEqual(
      items.map(({ url }) => url),
      ['https://a.example/'],
    );
  }
});

test('lines, records and trees without end are refused before they fill the memory', async (t) => {
  const line = `https://a.example/\n${'x'.repeat(2 ** 21)}`;
  await assert.rejects(readItems(writtenFile(t, line)), { code: 'import', message: /a line of more than 1048576/ });
  const open = `title,url,time_added\n"${'x'.repeat(65 * 2 ** 20)}`;
  await assert.rejects(readItems(writtenFile(t, open)), { code: 'import', message: /over 67108864 characters/ });
});
