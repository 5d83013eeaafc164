/** What real files of the public collection do not show: each format's odd sides, made by hand. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import sqlite from 'node-sqlite3-wasm';
import { ImportError } from '../../src/importers/item-parts.ts';
import { jsonElements } from '../../src/importers/json-elements.ts';
import { readKarakeep } from '../../src/importers/read-entries.ts';
import { temporaryFolder } from '../scope.ts';
import { writeHistory } from './history-file.ts';
import { readItems, writtenFile } from './read-items.ts';

const read = readItems;
const file = (t: TestContext, name: string, content: string | Buffer) => writtenFile(t, content, name);

test('a history gives one item a visit, and none for frames, hidden URLs and steps of redirects', async (t) => {
  const path = join(temporaryFolder(t), 'History');
  const [first, second] = [Date.UTC(2024, 1, 3), Date.UTC(2024, 5, 3)];
  writeHistory(path, [
    { url: 'https://a.example/', title: 'A', visits: [{ at: first }, { at: second }] },
    { url: 'https://hidden.example/', hidden: 1, visits: [{ at: first }] },
    { url: 'https://frame.example/', visits: [{ at: first, transition: 0x30000003 }] },
    { url: 'https://redirect.example/', visits: [{ at: first, transition: 0x10000000 }] },
    { url: 'https://expired.example/', visit_count: 4, visits: [] },
  ]);
  const { format, items } = await read(path);
  assert.equal(format, 'chromium');
  assert.deepEqual(
    items.map(({ url, at, visits, title }) => ({ url, at, visits, title })),
    [
      { url: 'https://a.example/', at: first, visits: 2, title: 'A' },
      { url: 'https://a.example/', at: second, visits: 2, title: 'A' },
    ],
  );
});

test('a history that the browser has open is read with what waits in its write-ahead log', async (t) => {
  const path = join(temporaryFolder(t), 'places.sqlite');
  const open = new sqlite.Database(path);
  t.after(() => open.close());
  open.exec(`
    PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
    CREATE TABLE moz_places(id INTEGER PRIMARY KEY, url, title, visit_count INTEGER, hidden INTEGER DEFAULT 0, last_visit_date INTEGER);
    CREATE TABLE moz_historyvisits(id INTEGER PRIMARY KEY, place_id INTEGER, visit_date INTEGER, visit_type INTEGER);
    INSERT INTO moz_places VALUES (1, 'https://in-the-log.example/', 'Log', 2, 0, 1700000000000000);
    INSERT INTO moz_places VALUES (2, 'https://only-counted.example/', NULL, 3, 0, 1600000000000000);
    INSERT INTO moz_historyvisits VALUES (1, 1, 1700000000000000, 1), (2, 1, 1700000001000000, 4);`);
  const { format, items } = await read(path);
  assert.equal(format, 'firefox');
  assert.deepEqual(
    items.map(({ url, at }) => [url, at]),
    [
      ['https://in-the-log.example/', 1700000000000],
      ['https://only-counted.example/', 1600000000000],
    ],
  );
});

test('bookmarks of Firefox are read from its history, with folders and tags', async (t) => {
  const path = join(temporaryFolder(t), 'places.sqlite');
  const database = new sqlite.Database(path);
  database.exec(`
    CREATE TABLE moz_places(id INTEGER PRIMARY KEY, url, title, visit_count INTEGER, hidden INTEGER DEFAULT 0, last_visit_date INTEGER);
    CREATE TABLE moz_historyvisits(id INTEGER PRIMARY KEY, place_id INTEGER, visit_date INTEGER, visit_type INTEGER);
    CREATE TABLE moz_bookmarks(id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER, parent INTEGER, title, dateAdded INTEGER, guid);
    INSERT INTO moz_places(id, url, title) VALUES (1, 'https://herons.example/', 'Herons'), (2, 'https://bread.example/', 'Bread'),
      (3, 'place:parent=menu________', NULL);
    INSERT INTO moz_bookmarks VALUES (1, 2, NULL, 0, '', 0, 'root________'), (2, 2, NULL, 1, 'menu', 0, 'menu________'),
      (3, 2, NULL, 1, 'tags', 0, 'tags________'), (4, 2, NULL, 2, 'Birds', 0, 'x'), (5, 2, NULL, 3, 'wading', 0, 'y'),
      (6, 2, NULL, 3, 'grey', 0, 'z'), (7, 1, 1, 4, 'My herons', 1700000000000000, 'a'), (8, 1, 1, 5, NULL, 0, 'b'),
      (9, 1, 1, 6, NULL, 0, 'c'), (10, 1, 2, 11, NULL, 1700000001000000, 'd'), (11, 2, NULL, 11, 'Own parent', 0, 'e'),
      (12, 3, NULL, 2, NULL, 0, 'f'), (13, 1, 3, 2, 'Recent', 0, 'g');`);
  database.close();
  const { format, items } = await read(path);
  assert.equal(format, 'firefox');
  assert.deepEqual(
    items.map(({ url, title, at, metadata }) => [
      url,
      title,
      at,
      String(metadata?.folder).slice(0, 22),
      metadata?.tags,
    ]),
    [
      ['https://herons.example/', 'My herons', 1700000000000, 'menu/Birds', ['wading', 'grey']],
      ['https://bread.example/', 'Bread', 1700000001000, 'Own parent/Own parent/', undefined],
      ['place:parent=menu________', 'Recent', null, 'menu', undefined],
    ],
  );
});

test('copies of a history that a killed import left are deleted, but not those of another user', async (t) => {
  const ended = spawnSync(process.execPath, ['--version']).pid;
  const [own, foreign] = ['own', 'foreign'].map((whose) => join(tmpdir(), `readback-history-${ended}-${whose}`));
  const isRoot = process.getuid?.() === 0; // who may give a folder away
  mkdirSync(own);
  if (isRoot) {
    mkdirSync(foreign);
    t.after(() => rmSync(foreign, { recursive: true }));
    chownSync(foreign, 65534, 65534);
  }
  const path = join(temporaryFolder(t), 'History');
  writeHistory(path, [{ url: 'https://a.example/', visits: [{ at: Date.UTC(2024, 1, 3) }] }]);
  assert.equal((await read(path)).items.length, 1);
  assert.ok(!existsSync(own));
  if (isRoot) assert.ok(existsSync(foreign));
});

test('a copy that cannot be made whole is deleted', async (t) => {
  const path = join(temporaryFolder(t), 'History');
  writeHistory(path, [{ url: 'https://a.example/', visits: [{ at: Date.UTC(2024, 1, 3) }] }]);
  mkdirSync(`${path}-journal`); // no file that could be copied
  const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`readback-history-${process.pid}-`));
  await assert.rejects(read(path));
  assert.deepEqual(copies(), []);
});

test('Karakeep: links with their saved HTML, notes and tags; a note without an address has none', async (t) => {
  const path = file(
    t,
    'karakeep.json',
    JSON.stringify({
      bookmarks: [
        {
          createdAt: 1735689600,
          title: 'Saved',
          tags: ['a', 'b'],
          note: 'mine',
          archived: true,
          content: {
            type: 'link',
            url: 'https://saved.example/',
            htmlContent: '<p>Text with "quotes" and {brackets]</p>',
          },
        },
        { createdAt: 1735689601, title: 'Note', tags: [], content: { type: 'text', text: 'no page' } },
      ],
    }),
  );
  const { format, items } = await read(path);
  assert.equal(format, 'karakeep');
  assert.deepEqual(items[0], {
    url: 'https://saved.example/',
    title: 'Saved',
    at: 1735689600000,
    visits: null,
    metadata: { tags: ['a', 'b'], note: 'mine', status: 'archived' },
    body_html: '<p>Text with "quotes" and {brackets]</p>',
    body_text: null,
    fault: null,
  });
  assert.equal(items[1].url, '');
});

test('Karakeep: the lists of a bookmark are its folder, and no items', async (t) => {
  const link = (no: number, lists: string[]) => ({
    ...{ createdAt: no, tags: [], lists },
    content: { type: 'link', url: `https://${no}.example/` },
  });
  const lists = [
    { id: 'l2', name: 'Child', parentId: 'l1' },
    { id: 'l1', name: 'Parent', parentId: null },
    { id: 'l3', name: 'Ring', parentId: 'l3' },
  ];
  const bookmarks = [link(1, ['l2', 'l3']), link(2, ['gone']), link(3, [])];
  const { items } = await read(file(t, 'karakeep.json', JSON.stringify({ bookmarks, lists })));
  assert.deepEqual(
    items.map(({ url, metadata }) => [url, metadata]),
    [
      ['https://1.example/', { folder: 'Parent/Child, Ring' }],
      ['https://2.example/', null],
      ['https://3.example/', null],
    ],
  );
});

test('Karakeep: of a list that is cut off what is before the cut is read', async () => {
  const link = { createdAt: 1, tags: [], content: { type: 'link', url: 'https://1.example/' } };
  const whole = JSON.stringify({ bookmarks: [link, link], lists: [] });
  const found: string[] = [];
  const reading = (async () => {
    const entries = jsonElements(piecesOf(whole.slice(0, whole.lastIndexOf('"type"'))), 'cut');
    const again = jsonElements(piecesOf(whole.slice(0, whole.lastIndexOf('"type"'))), 'cut');
    for await (const { url } of readKarakeep(entries, again)) found.push(url);
  })();
  await assert.rejects(reading, { code: 'import', message: /cut off/ });
  assert.deepEqual(found, ['https://1.example/']);
});

async function* piecesOf(text: string): AsyncGenerator<string> {
  yield text;
}

test('Wallabag: an entry whose given address is empty has its own', async (t) => {
  const entry = { is_archived: 0, is_starred: 0, given_url: '', url: 'https://a.example/', title: 'A' };
  const { items } = await read(file(t, 'wallabag.json', JSON.stringify([entry])));
  assert.deepEqual(
    items.map(({ url }) => url),
    ['https://a.example/'],
  );
});

test('Pinboard: a list without a post is an empty list', async (t) => {
  for (const text of ['<posts user="x"/>', '<posts user="x"></posts>'])
    assert.deepEqual((await read(file(t, 'posts.xml', text))).items, [], text);
  await assert.rejects(read(file(t, 'cut.xml', '<posts user="x">')), { code: 'import', message: /cut off/ });
});

test('Omnivore: the folder of an export, with pages as they were saved; no name leads out of it', async (t) => {
  const dir = temporaryFolder(t);
  mkdirSync(join(dir, 'content'));
  writeFileSync(join(dir, 'content', 'a-page-1.html'), '<article>Saved text</article>');
  writeFileSync(join(dir, 'secret.html'), 'not of the export');
  const page = (slug: string) => ({
    slug,
    url: `https://o.example/${slug.length}`,
    savedAt: '2024-10-29T16:30:11.000Z',
    labels: [],
  });
  writeFileSync(join(dir, 'metadata_0_to_1.json'), JSON.stringify([page('a-page-1')]));
  writeFileSync(join(dir, 'metadata_20_to_21.json'), JSON.stringify([page('../secret')]));
  const { format, items } = await read(dir);
  assert.equal(format, 'omnivore');
  assert.deepEqual(
    items.map(({ body_html, at, title, left_out }) => [body_html, at, left_out && title]),
    [
      ['<article>Saved text</article>', 1730219411000, undefined],
      [null, 1730219411000, undefined],
      [null, null, 'secret.html'],
    ],
  );
});

test('linkding: pages of its API', async (t) => {
  const results = [
    {
      url: 'https://l.example/',
      title: '',
      website_title: 'L',
      notes: 'n',
      tag_names: ['x'],
      is_archived: true,
      unread: true,
      date_added: '2020-09-26T09:46:23.006313Z',
    },
  ];
  const { format, items } = await read(file(t, 'l.json', JSON.stringify({ count: 1, next: null, results })));
  assert.equal(format, 'linkding');
  assert.deepEqual(
    [items[0].title, items[0].at, items[0].metadata],
    ['L', 1601113583006, { tags: ['x'], note: 'n', status: 'archived, unread' }],
  );
});

test('a CSV that a spreadsheet saved again: names in quotes, semicolons or tabs between the fields, a byte order mark', async (t) => {
  const rows = [
    ['title', 'url', 'time_added', 'tags', 'status'],
    ['One; two, three', 'https://a.example/', '1600000000', 'x|y', 'unread'],
  ];
  for (const delimiter of [',', ';', '\t']) {
    const quoted = rows.map((row) => row.map((field) => `"${field}"`).join(delimiter)).join('\r\n');
    const { format, items } = await read(file(t, 'saved.csv', `\ufeff${quoted}\r\n`));
    assert.equal(format, 'pocket');
    assert.deepEqual(
      items.map(({ url, title, at, metadata }) => ({ url, title, at, metadata })),
      [
        {
          url: 'https://a.example/',
          title: 'One; two, three',
          at: 1_600_000_000_000,
          metadata: { tags: ['x', 'y'], status: 'unread' },
        },
      ],
    );
  }
  const plain = file(t, 'plain.csv', 'URL;Title;Selection;Folder\nhttps://b.example/?a=1,2;B, two;;Unread\n');
  assert.deepEqual((await read(plain)).items[0]?.url, 'https://b.example/?a=1,2');
});

test('a CSV with an empty first line, or with lines as old spreadsheets for the Macintosh end them', async (t) => {
  const lines = ['url;title;time_added', 'https://a.example/;One;1600000000', 'https://b.example/;Two;1600000001'];
  for (const text of [`\n${lines.join('\n')}`, `\ufeff\r\n${lines.join('\r\n')}`, lines.join('\r')]) {
    const { format, items } = await read(file(t, 'odd.csv', text));
    assert.equal(format, 'pocket');
    assert.deepEqual(
      items.map(({ url }) => url),
      ['https://a.example/', 'https://b.example/'],
      JSON.stringify(text),
    );
  }
});

test('a CSV of a service that is not known is not taken for one of Instapaper, which would lose its dates', async (t) => {
  const unknown = 'id,title,url,folder,created_on\n1,A,https://a.example/,Unsorted,2023-01-01T10:00:00.000Z\n';
  const { format, items } = await read(file(t, 'unknown.csv', unknown));
  assert.deepEqual([format, items[0].at, items[0].metadata], ['csv', Date.UTC(2023, 0, 1, 10), { folder: 'Unsorted' }]);
});

test('columns whose meaning is unclear are named by number or name; what the file has is told', async (t) => {
  const table = 'Name;Verweis;Bild\nWeir;https://a.example/1;https://a.example/1.png\n';
  const fields =
    '[{"name":"Weir","verweis":"a.example/1","bild":["x"],"more":{"link":{"to":"https://a.example/1"}},"a.b":"ann"}]';
  const usual = 'url,title,tags\nhttps://a.example/1,Weir,fish\n';
  const refused = async (content: string, columns: string | null, message: RegExp, names: string[]) =>
    assert.rejects(read(file(t, 'x', content), null, columns), (error) => {
      assert.ok(error instanceof ImportError);
      assert.match(error.message, message);
      assert.deepEqual(
        error.columns.map(({ name, example, is }) => [name, example, is].join(' ')),
        names,
      );
      return true;
    });
  const ofTable = ['Name Weir title', 'Verweis https://a.example/1 url', 'Bild https://a.example/1.png '];
  const ofFields = [
    'name Weir title',
    'verweis a.example/1 ',
    'bild x ',
    'more.link.to https://a.example/1 ',
    'a.b ann ',
  ];
  await refused(table, null, /has addresses in several columns/, ofTable);
  await refused(table, 'url=4', /there is no column 4/, []);
  await refused(table, 'url=1', /has no address of a page as csv/, ofTable);
  await refused(table, 'link=2', /columns are named as url=2,title=name; they may be url, title/, []);
  await refused(fields, null, /not recognised/, ofFields);
  await refused('Dear diary,\n', 'url=1', /no columns that can be named/, []);
  await assert.rejects(read(file(t, 'x', table), 'raindrop', 'url=2'), /any program: leave the format raindrop out/);
  for (const [content, columns, ...wanted] of [
    [table, 'url=2,title=1', 'https://a.example/1', 'Weir', null],
    [table, 'title=Name, url=verweis', 'https://a.example/1', 'Weir', null],
    [table, 'url=3,title=,note=1', 'https://a.example/1.png', null, { note: 'Weir' }],
    [fields, 'url=verweis', 'https://a.example/1', 'Weir', null],
    [fields, 'url=more.link.to,tags=bild', 'https://a.example/1', 'Weir', { tags: ['x'] }],
    [fields, 'url=4,author=a.b', 'https://a.example/1', 'Weir', { author: 'ann' }],
    [usual, 'tags=', 'https://a.example/1', 'Weir', null],
    [usual, 'tags=3,tags=2', 'https://a.example/1', null, { tags: ['fish', 'Weir'] }],
  ] as const) {
    const { items } = await read(file(t, 'x', content), null, columns);
    assert.deepEqual(
      items.map(({ url, title, metadata }) => [url, title, metadata]),
      [wanted],
      columns,
    );
  }
});

test('a list of addresses, with comments, a byte order mark and Windows line ends', async (t) => {
  const { format, items } = await read(
    file(t, 'list', '\ufeffhttps://one.example/\r\n# two is gone\r\n\r\n https://three.example/ \t The third '),
  );
  assert.equal(format, 'urls');
  assert.deepEqual(
    items.map(({ url, title }) => [url, title]),
    [
      ['https://one.example/', null],
      ['https://three.example/', 'The third'],
    ],
  );
});

const bookmarkFile = (declared: string) => `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=${declared}">
<DL><p><DT><A HREF="https://one.example/">`;

test('UTF-16 with a byte order mark, as spreadsheets and shells of Windows write it, in each text format', async (t) => {
  const texts = {
    bookmarks: `${bookmarkFile('UTF-8')}Größe 読む</A>`,
    pocket: 'title\turl\ttime_added\ttags\tstatus\r\nGröße 読む\thttps://one.example/\t1600000000\t\tunread\r\n',
    linkding:
      '[{"url":"https://one.example/","title":"Größe 読む","tag_names":[],"date_added":"2020-09-26T09:46:23Z"}]',
    urls: '# Größe 読む\r\nhttps://one.example/\r\n',
  };
  for (const [format, text] of Object.entries(texts)) {
    const little = Buffer.from(`\ufeff${text}`, 'utf16le');
    for (const [order, bytes] of Object.entries({ little, big: Buffer.from(little).swap16() })) {
      const found = await read(file(t, `${format}-${order}`, bytes));
      const title = format === 'urls' ? null : 'Größe 読む';
      assert.deepEqual(
        [found.format, found.items.map((item) => [item.url, item.title])],
        [format, [['https://one.example/', title]]],
        `${format}, ${order} endian`,
      );
    }
  }
});

test('text that is not UTF-8 is read as its bookmark file declares, else as windows-1252', async (t) => {
  const titleIn = async (name: string, head: string, title: Buffer) =>
    (await read(file(t, name, Buffer.concat([Buffer.from(head), title, Buffer.from('</A>')])))).items[0].title;
  const french = Buffer.from('Caf\xe9 10 \x80', 'latin1');
  assert.equal(await titleIn('1252', bookmarkFile('windows-1252'), french), 'Café 10 €');
  assert.equal(await titleIn('koi8', bookmarkFile('KOI8-R'), Buffer.from('\xf0\xd2\xc9', 'latin1')), 'При');
  const japanese = Buffer.from('\x93\xc7\x82\xde', 'latin1');
  assert.equal(await titleIn('sjis', bookmarkFile('Shift_JIS'), japanese), '読む');
  assert.equal(await titleIn('wrong', bookmarkFile('UTF-8'), french), 'Café 10 €', 'a declaration that cannot be');
  assert.equal(await titleIn('nonsense', bookmarkFile('x-nonsense'), french), 'Café 10 €');
  assert.equal(await titleIn('utf16', bookmarkFile('UTF-16'), french), 'Café 10 €', 'of which it could not be read');
  assert.equal(
    await titleIn('utf8', bookmarkFile('windows-1252'), Buffer.from('Café')),
    'Café',
    'it is UTF-8 after all',
  );
  const csv = Buffer.concat([
    Buffer.from('title,url,time_added,tags,status\n'),
    french,
    Buffer.from(',https://a.example/,1,,\n'),
  ]);
  assert.equal((await read(file(t, 'csv', csv))).items[0].title, 'Café 10 €');
});

test('UTF-8 with a character that was cut, and UTF-8 that was damaged before, stay UTF-8', async (t) => {
  const cut = Buffer.concat([Buffer.from('日本'), Buffer.from('語').subarray(0, 2)]);
  const csv = Buffer.concat([
    Buffer.from('title,url,time_added,tags,status\n'),
    cut,
    Buffer.from(',https://a.example/,1,,\n'),
  ]);
  assert.equal((await read(file(t, 'cut', csv))).items[0].title, '日本\ufffd');
  const damaged = 'title,url,time_added,tags,status\nCaf\ufffd,https://a.example/,1,,\n';
  assert.equal((await read(file(t, 'damaged', damaged))).items[0].title, 'Caf\ufffd');
});

test('Linkwarden: a collection has the folders that it is in, also those behind it', async (t) => {
  const collection = (id: number, name: string, parentId: number | null) => ({
    ...{ id, name, parentId },
    links: [{ url: `https://${id}.example/` }],
  });
  const collections = [collection(3, 'Deep', 2), collection(2, 'Child', 1), collection(1, 'Parent', null)];
  const { items } = await read(file(t, 'linkwarden', JSON.stringify({ collections })));
  assert.deepEqual(
    items.map(({ metadata }) => metadata?.folder),
    ['Parent/Child/Deep', 'Parent/Child', 'Parent'],
  );
});

test('Linkwarden: a link that came from elsewhere keeps the date it had there', async (t) => {
  const links = [
    { url: 'https://here.example/', createdAt: '2024-05-05T05:05:05.000Z', importDate: null },
    { url: 'https://older.example/', createdAt: '2024-05-05T05:05:05.000Z', importDate: '2019-01-02T03:04:05.000Z' },
  ];
  const { format, items } = await read(file(t, 'linkwarden', JSON.stringify({ collections: [{ name: 'C', links }] })));
  assert.equal(format, 'linkwarden');
  assert.deepEqual(
    items.map(({ at }) => at),
    [Date.UTC(2024, 4, 5, 5, 5, 5), Date.UTC(2019, 0, 2, 3, 4, 5)],
  );
});

test('what is cut off, no JSON, another database or nothing known is told in a line', async (t) => {
  const cut = file(t, 'cut.json', '[{"slug":"a","savedAt":"2024-01-01T00:00:00Z","url":"https://a.example/"},{"slug"');
  await assert.rejects(read(cut), { code: 'import', message: /cut off/ });
  const alone = '{"is_archived":0,"is_starred":0,"title":"t","url":"https://a.example/"}';
  const tall = JSON.stringify(JSON.parse(alone), null, 1);
  for (const text of [tall, `${tall}\n${tall}`])
    await assert.rejects(read(file(t, 'alone.json', text)), { code: 'import', message: /no list of entries/ });
  assert.equal((await read(file(t, 'lines.json', `${alone}\n${alone}`))).items.length, 2);
  const broken = file(t, 'broken.json', '[{"slug":1,"savedAt":}]');
  await assert.rejects(read(broken), { code: 'import', message: /no JSON/ });
  const unknown = file(t, 'unknown', 'Dear diary');
  await assert.rejects(read(unknown), {
    code: 'import',
    message: /the format of .* is not recognised; known are .*pocket/,
  });
  const other = join(temporaryFolder(t), 'other.sqlite');
  const database = new sqlite.Database(other);
  database.exec('CREATE TABLE a(b)');
  database.close();
  await assert.rejects(read(other), { code: 'import', message: /no history/ });
  const garbage = file(t, 'garbage.sqlite', `SQLite format 3\0${'x'.repeat(5000)}`);
  await assert.rejects(read(garbage), { code: 'import', message: /cannot be read as SQLite/ });
  await assert.rejects(read('/nowhere/at/all'), { code: 'import', message: /there is no/ });
});
