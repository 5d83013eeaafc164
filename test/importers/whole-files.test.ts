/**
 * No importer ends early without an error: each format's entries are read whatever is written in them, in whatever pieces the file comes, and a
 * reader that leaves entries out is found out by where they begin.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntryMarks } from '../../src/importers/entry-marks.ts';
import { formatRows } from '../../src/importers/formats.ts';
import { openSource } from '../../src/importers/open-source.ts';
import { csvHead, readCsv } from '../../src/importers/read-csv.ts';
import { dialects, itemReader } from '../../src/importers/read-entries.ts';
import { pluck } from '../rows.ts';
import { readItems, writtenFile } from './read-items.ts';

const titles = [
  ...['title', 'style', 'script', 'textarea', 'xmp', 'plaintext', 'noscript', 'iframe', 'template', 'svg', 'a', 'b'],
  ...['!--', '![CDATA[', '?php', '!doctype', '/body', 'dt', 'dl'],
].map((tag) => `How the <${tag}> element works, "quoted" & 'so`);
const urls = titles.map((_, no) => `https://site.example/${no}`);
const each = (entry: (title: string, url: string) => string) => titles.map((title, no) => entry(title, urls[no]));
const list = (entry: (title: string, url: string) => object, wrap: (entries: string) => string = (all) => `[${all}]`) =>
  wrap(`\n${each((title, url) => JSON.stringify(entry(title, url))).join(',\n')}\n`);
const csv = (columns: string, row: (title: string, url: string) => string[]) =>
  [
    columns,
    ...each((title, url) =>
      row(title, url)
        .map((field) => `"${field.replaceAll('"', '""')}"`)
        .join(','),
    ),
  ].join('\n');
const at = '2024-05-05T05:05:05.000Z';
const inAttribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** A file of each format, an entry a line from the line that is named; its titles are as hostile as the format lets them be. */
const samples: Record<string, { first: number; text: string }> = {
  'Pocket, ril_export.html': {
    first: 2,
    text: `<!DOCTYPE html><title>Pocket Export</title><h1>Unread</h1><ul>\n${each((title, url) => `<li><a href="${url}" time_added="1600322788" tags="">${title}</a>`).join('\n')}\n</ul>`,
  },
  'Instapaper, HTML': {
    first: 2,
    text: `<!DOCTYPE html><title>Instapaper: Export</title><h1>Unread</h1><ol>\n${each((title, url) => `<li><a href="${url}">${title}</a>`).join('\n')}\n</ol>`,
  },
  'bookmarks of browsers and of many services, HTML': {
    first: 3,
    text: `<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n${each((title, url) => `<DT><A HREF="${url}" ADD_DATE="1600000000">${title}</A><DD>${title}`).join('\n')}\n</DL><p>`,
  },
  'bookmarks of Chrome and its like: file Bookmarks': {
    first: 2,
    text: list(
      (name, url) => ({ type: 'url', name, url, date_added: '13161017367315765' }),
      (all) => `{"roots":{"bookmark_bar":{"type":"folder","name":"Bar","children":[${all}]}}}`,
    ),
  },
  'bookmarks and reading list of Safari: file Bookmarks.plist': {
    first: 2,
    text: `<?xml version="1.0"?><!DOCTYPE plist><plist><dict><key>WebBookmarkType</key><string>WebBookmarkTypeList</string><key>Children</key><array>\n${each((title, url) => `<dict><key>URIDictionary</key><dict><key>title</key><string>${inAttribute(title)}</string></dict><key>URLString</key><string>${url}</string><key>WebBookmarkType</key><string>WebBookmarkTypeLeaf</string></dict>`).join('\n')}\n</array></dict></plist>`,
  },
  'backup of Firefox, bookmarks-DATE.json': {
    first: 2,
    text: list(
      (title, uri) => ({ type: 'text/x-moz-place', title, uri, dateAdded: 1463687035000000 }),
      (all) =>
        `{"type":"text/x-moz-place-container","children":[{"title":"menu","type":"text/x-moz-place-container","children":[${all}]},{"root":"tagsFolder","children":[{"title":"fish","children":[{"type":"text/x-moz-place","uri":"https://site.example/0"}]}]}]}`,
    ),
  },
  'Pocket, CSV': { first: 1, text: csv('title,url,time_added,tags,status', (title, url) => [title, url, '1', '', '']) },
  'Instapaper, CSV': {
    first: 1,
    text: csv('URL,Title,Selection,Folder,Timestamp', (title, url) => [url, title, title, 'Unread', '1']),
  },
  'Wallabag, CSV': {
    first: 1,
    text: csv('Title,URL,Content,Tags,"MIME Type",Language,"Creation date"', (title, url) => [
      title,
      url,
      '',
      '',
      '',
      '',
      '',
    ]),
  },
  'Raindrop.io, CSV': {
    first: 1,
    text: csv('id,title,note,excerpt,url,folder,tags,created', (title, url) => [
      '1',
      title,
      title,
      '',
      url,
      '',
      '',
      at,
    ]),
  },
  'library of Readwise Reader, CSV': {
    first: 1,
    text: csv('Title,URL,ID,Document tags,Saved date,Location', (title, url) => [title, url, '1', '[]', at, 'new']),
  },
  'Zotero, CSV': {
    first: 1,
    text: csv('Key,Item Type,Title,Url,Date Added', (title, url) => [
      'K',
      'webpage',
      title,
      url,
      '2024-05-05 05:05:05',
    ]),
  },
  'Wallabag, JSON': { first: 2, text: list((title, url) => ({ is_archived: 0, is_starred: 0, title, url })) },
  'Wallabag 1, JSON': { first: 2, text: list((title, url) => ({ is_read: 0, is_fav: 0, title, url })) },
  'Pinboard, JSON': {
    first: 2,
    text: list((description, href) => ({ href, description, extended: '', time: at, toread: 'no' })),
  },
  'Delicious, JSON': {
    first: 2,
    text: list((title, url) => ({
      title,
      tags: [''],
      url,
      description: '',
      created: '1358531607',
      others: 9,
      owner: 'ann',
    })),
  },
  'elCurator, JSON': {
    first: 2,
    text: list((title, url) => ({ created_at: at, title, url, description: null, is_saved: true })),
  },
  'Readability, JSON': {
    first: 2,
    text: list(
      (article__title, article__url) => ({ article__title, article__url, date_added: at }),
      (all) => `{"bookmarks":[${all}],"recommendations":[]}`,
    ),
  },
  'highlights of Readwise, JSON': {
    first: 2,
    text: list(
      (title, source_url) => ({ user_book_id: 1, title, source_url, highlights: [{ text: title }] }),
      (all) => `{"count":1,"results":[${all}]}`,
    ),
  },
  'documents of Readwise Reader, JSON': {
    first: 2,
    text: list(
      (title, source_url) => ({ title, source_url, reading_progress: 0 }),
      (all) => `{"results":[${all}]}`,
    ),
  },
  'annotations of Hypothesis, JSON': {
    first: 2,
    text: list(
      (text, uri) => ({ uri, user: 'ann', text, target: [] }),
      (all) => `{"rows":[${all}]}`,
    ),
  },
  'Zotero, JSON of Better BibTeX': {
    first: 2,
    text: list(
      (title, url) => ({
        itemType: 'webpage',
        title,
        url,
        dateAdded: at,
        attachments: [{ itemType: 'attachment', url }],
      }),
      (all) => `{"items":[${all}]}`,
    ),
  },
  'Omnivore, its ZIP, folder, or metadata_*.json': {
    first: 2,
    text: list((title, url) => ({ slug: 'a', title, url, savedAt: at })),
  },
  'Linkwarden, JSON': {
    first: 2,
    text: list(
      (name, url) => ({ name: 'C', links: [{ name, url }] }),
      (all) => `{"collections":[${all}]}`,
    ),
  },
  'linkding, JSON': { first: 2, text: list((title, url) => ({ url, title, tag_names: [], date_added: at })) },
  'Karakeep (Hoarder), JSON': {
    first: 2,
    text: list(
      (title, url) => ({ title, createdAt: 1735689600, content: { type: 'link', url } }),
      (all) => `{"bookmarks":[${all}],"lists":[]}`,
    ),
  },
  'CSL JSON of Zotero and its like': {
    first: 2,
    text: list((title, URL) => ({ type: 'webpage', title, URL, accessed: { 'date-parts': [[2024, 5, 5]] } })),
  },
  'Delicious, Pinboard and Scuttle, XML': {
    first: 2,
    text: `<?xml version="1.0"?><posts>\n${each((title, url) => `<post href="${url}" description="${inAttribute(title)}" tag=""/>`).join('\n')}\n</posts>`,
  },
  'RIS of Zotero and its like': {
    first: 1,
    // The mark that ends a work is left out: the next one begins all the same.
    text: each((title, url) => `TY  - ELEC\nTI  - ${title}\nUR  - ${url}`).join('\n'),
  },
  'Google Takeout, history of Chrome, JSON': {
    first: 2,
    text: list(
      (title, url) => ({ favicon_url: 'https://x.example/', title, url, time_usec: 1_700_000_000_000_000 }),
      (all) => `{"Browser History":[${all}]}`,
    ),
  },
  'Google Takeout, YouTube and activities, JSON': {
    first: 2,
    text: list((title, titleUrl) => ({
      title,
      titleUrl,
      subtitles: [{ name: title, url: 'https://x.example/' }],
      time: at,
      products: ['YouTube'],
    })),
  },
  'history of a Safari export, JSON': {
    first: 2,
    text: list(
      (title, url) => ({ title, url, time_usec: 1_700_000_000_000_000 }),
      (all) => `{"metadata":{"data_type":"history"},"history":[${all}]}`,
    ),
  },
  'stars of Inoreader, FreshRSS or Feedly, JSON': {
    first: 2,
    text: list(
      (title, href) => ({ title, alternate: [{ href }], summary: { content: title }, origin: { title } }),
      (all) => `{"id":"starred","items":[${all}]}`,
    ),
  },
  'OPML: subscriptions of feed readers, outlines with links': {
    first: 2,
    text: `<?xml version="1.0"?><opml version="2.0"><body>\n${each((title, url) => `<outline text="${inAttribute(title)}" htmlUrl="${url}"/>`).join('\n')}\n</body></opml>`,
  },
  'Google Takeout, YouTube and activities, HTML': {
    first: 2,
    text: `<html><head><title>My Activity History</title><style>.mdl-grid{}</style></head><body>\n${each((title, url) => `<div class="outer-cell mdl-cell"><div class="content-cell">Watched&nbsp;<a href="${url}">${inAttribute(title)}</a><br>May 5, 2024, 5:05:05 AM UTC</div></div>`).join('\n')}\n</body></html>`,
  },
  'any CSV or TSV with addresses: Matter, mymind, Readeck, Scuttle, History Trends, Google reading list …': {
    first: 1,
    text: csv('Name,Link,Text', (title, url) => [title, url, title]),
  },
  'any JSON or JSON lines with addresses: GoodLinks, Tab Session Manager, Hister, Readeck …': {
    first: 2,
    text: list((name, link) => ({ name, link, more: { url: 'https://x.example/' } })),
  },
  'a Markdown list of links': {
    first: 3,
    text: `# Reading\n\n${each((title, url) => `- [${title.replace(/[[\]]/g, '\\$&')}](${url}) ${title.replaceAll(']', '')}`).join('\n')}`,
  },
  'a list of addresses, one a line, with titles or without; of OneTab': {
    first: 1,
    text: ['https://site.example/0', ...each((title, url) => `${url} ${title}`).slice(1)].join('\n'),
  },
};

for (const row of formatRows.filter(({ mark }) => mark !== null)) {
  test(`${row.from}: every entry is read, in whatever pieces the file comes`, async (t) => {
    const { first, text } = samples[row.from];
    const whole = await readItems(writtenFile(t, text));
    assert.equal(whole.format, row.format);
    assert.deepEqual(
      whole.items.map(({ url, fault }) => [url, fault]),
      urls.map((url) => [url, null]),
    );
    for (const size of [1, 7]) {
      const marks = new EntryMarks(row.mark ?? assert.fail());
      const pieces = async function* () {
        for (let from = 0; from < text.length; from += size) yield text.slice(from, from + size);
      };
      const marked = async function* () {
        for await (const piece of pieces()) {
          marks.add(piece);
          yield piece;
        }
      };
      const head = { kinds: [row.kind], text, columns: csvHead(text).columns, browser: null };
      const items = [];
      const file = { file: '/', name: 'file', head, text: marked, again: pieces, marks, columns: null };
      const own = { path: 'file', at: null, bytes: () => assert.fail() };
      for await (const item of row.read({ ...file, own, sibling: async () => null })) items.push(item);
      assert.deepEqual(items, whole.items);
      assert.deepEqual(marks.lost(), []);
    }
    const unread = new EntryMarks(row.mark ?? assert.fail());
    unread.add(text);
    const [{ line, count }, ...others] = unread.lost();
    assert.deepEqual([line, others], [first, []]);
    assert.ok(count >= urls.length, 'a reader that reads none is found out');
  });
}

test('entries that a reader leaves out are counted, and known by the line of the first', () => {
  const marks = new EntryMarks(/x/g);
  marks.add('x\nx\n\n');
  marks.add('x x\nxx');
  marks.reached(2);
  marks.reached(9, 10);
  assert.deepEqual(marks.lost(), [
    { line: 1, count: 1 },
    { line: 4, count: 2 },
    { line: 5, count: 1 },
  ]);
});

test('an entry that is left out has the line where it begins', async (t) => {
  const cases: [content: string, lines: number[]][] = [
    ['[\n{"name": "A"},\n\n{\n"url": "https://a.example/"},\n{"url": "file:///x"}\n]', [2, 5, 6]],
    ['{"tabs": [\n{"url": "https://a.example/"},\n{"name": "A", "of": {\n"url": "about:blank"}}\n]}', [2, 3]],
    ['{"url": "https://a.example/"}\n{"name": "A"}\n\n{"url": "about:blank"}\n', [1, 2, 4]],
    ['url,title\nhttps://a.example/,A\n\nabout:blank,B\n', [2, 4]],
    [
      '<?xml version="1.0"?><opml><body>\n<outline url="https://a.example/"/>\n<outline text="B"/></body></opml>',
      [2, 3],
    ],
    ['<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT><A HREF="about:blank">A</A>\n</DL>', [3]],
  ];
  for (const [content, lines] of cases) {
    const source = await openSource(writtenFile(t, content), null, 'FILE');
    const places: string[] = [];
    for await (const _ of source.items()) places.push(source.place?.() ?? '');
    assert.deepEqual(
      places,
      lines.map((line) => `FILE, line ${line}`),
      content,
    );
  }
});

test('of a JSON document only what lies in arrays counts as entries', async (t) => {
  const links = (no: number) => [{ name: 'C', links: [{ url: `https://site.example/${no}` }] }];
  const others = { url: 'https://x.example/', profile: { url: 'https://y.example/' } };
  const read = async (document: object) =>
    (await readItems(writtenFile(t, JSON.stringify(document)), 'linkwarden')).items.map(
      ({ url, fault }) => fault ?? url,
    );
  assert.deepEqual(await read({ ...others, collections: links(1), after: others }), ['https://site.example/1']);
  assert.deepEqual(await read({ collections: links(1), deeper: { still: { collections: links(2) } } }), [
    'https://site.example/1',
    '1 entry from line 1 on could not be read',
  ]);
});

/** The addresses and the faults of a file, each in order, and all its titles where they are given. */
async function assertRead(file: string, urls: string[], faults: string[], what: string, titles?: string[]) {
  const { items } = await readItems(file);
  const read = items.filter(({ fault }) => fault === null);
  assert.deepEqual([pluck(read, 'url'), items.flatMap(({ fault }) => fault ?? [])], [urls, faults], what);
  if (titles !== undefined) assert.deepEqual(pluck(items, 'title'), titles, what);
}

test('a bookmark whose link is cut off, or lacks a quotation mark, costs no other one', async (t) => {
  const link = (address: string) => `<DT><A HREF="${address}" ADD_DATE="1600000000">A</A>`;
  const cases: [lines: string[], urls: string[], faults: string[], titles?: string[]][] = [
    [
      [link('https://a.example/'), '<DT><A HREF="https://b.exa'],
      ['https://a.example/'],
      ['1 entry from line 4 on could not be read'],
    ],
    [
      ['<DT><A HREF="https://a.example/>A</A>', link('https://b.example/')],
      ['https://a.example/', 'https://b.example/'],
      [],
    ],
    [
      [`<DT><A HREF="https://a.example/>A</A>${link('https://b.example/')}`],
      ['https://a.example/', 'https://b.example/'],
      [],
    ],
    [
      [
        '<DT><A HREF="https://a.example/" NOTE="a <li> b">A</A>',
        `<DT><A HREF="https://b.example/" DESCRIPTION="see <a href='https://y.example/'>y</a> there">A</A>`,
      ],
      ['https://a.example/', 'https://b.example/'],
      [],
      ['A', 'A'],
    ],
    [
      ['<DT><A HREF="https://a.example/"', link('https://b.example/')],
      ['https://a.example/', 'https://b.example/'],
      [],
    ],
    [
      [
        link('https://a.example/'),
        '<DD>See <a href="https://note.example/">this</a>',
        `<DD>and${link('https://b.example/').slice(4)}`,
      ],
      ['https://a.example/', 'https://b.example/'],
      [],
    ],
  ];
  for (const [lines, expected, faults, titles] of cases) {
    const file = writtenFile(t, ['<!DOCTYPE NETSCAPE-Bookmark-file-1>', '<DL><p>', ...lines].join('\n'));
    await assertRead(file, expected, faults, lines.join('\n'), titles);
  }
});

test('a row of a CSV with a quotation mark that is not closed is lost, with its line, and no other row', async (t) => {
  const row = (no: number, title = `"T ${no}"`) => `${title},https://site.example/${no},160000000${no},,unread`;
  const cases: [what: string, rows: string[], urls: number[], lines: number[], titles?: string[]][] = [
    ['the only mark', ['"Open,https://a.example/,1,,', ...[1, 2].map((no) => row(no, 'T'))], [1, 2], [2]],
    ['others follow', [row(1), '"Open,https://a.example/,1,,', row(2), row(3)], [1, 2, 3], [3]],
    [
      'the next one begins a field that ends at once',
      ['"Open,https://a.example/,1,,', row(1, '","'), row(2)],
      [1, 2],
      [2],
    ],
    ['the last row', [row(1), '"Open,https://a.example/,1,,'], [1], [3]],
    ['twice', ['"Open,https://a.example/,1', '"Open,https://a.example/,1', row(1)], [1], [2, 3]],
    ['lines of its note follow', ['"Open,https://a.example/,1', 'second line', 'third line', row(1)], [1], [2]],
    ['marks within a field', [row(1, '"The "best" weir"'), row(2, '5" disks')], [1, 2], []],
    ['line breaks within a field', [row(1, '"One\n\ntwo ""three"", four\n"'), row(2)], [1, 2], []],
    ['too few fields, with a line break', ['"One\ntwo",https://site.example/1', row(2)], [1, 2], []],
    [
      'a field that its marks do not end, and a comma behind one',
      [row(1, '"Foo" is bar'), row(2, '"A" '), row(3, '"He said "hi", to me"'), row(4, '"5" disks"')],
      [1, 2, 3, 4],
      [],
      ['"Foo" is bar', 'A', 'He said "hi", to me', '5" disks'],
    ],
    ['marks in pairs, but too few fields', ['"The "best" weir",https://a.example/', row(1)], [1], [2]],
  ];
  for (const [what, rows, expected, lines, titles] of cases) {
    const file = writtenFile(t, ['title,url,time_added,tags,status', ...rows, ''].join('\n'));
    const urls = expected.map((no) => `https://site.example/${no}`);
    const faults = lines.map((line) => `line ${line}: a quotation mark is out of place or not closed`);
    await assertRead(file, urls, faults, what, titles);
  }
});

test('rows behind a damaged one that have no address, but all fields, are read', async (t) => {
  const rows = [
    'A,webpage,"Open,https://a.example/',
    'rest of it',
    'B,journalArticle,B,,,10.1/b',
    'C,journalArticle,C,,,',
  ];
  const text = ['Key,Item Type,Title,Url,Date Added,DOI', ...rows].join('\n');
  const { items } = await readItems(writtenFile(t, text));
  assert.deepEqual(
    items.map(({ url, title, fault }) => [url, title, fault]),
    [
      ['', null, 'line 2: a quotation mark is out of place or not closed'],
      ['https://doi.org/10.1/b', 'B', null],
      ['', 'C', null],
    ],
  );
});

test('behind a quotation mark that is not closed a bounded number of lines waits', async () => {
  const head = 'title,url,time_added,tags,status\n';
  let given = 0;
  let longestWait = 0;
  const pieces = async function* () {
    for (const piece of [
      head,
      '"Open,https://a.example/,1,,\n',
      ...Array.from({ length: 300 }, () => 'a\n'.repeat(1000)),
    ]) {
      given += piece.length;
      yield piece;
    }
  };
  let read = 0;
  const marks = {
    reached: (_start: number, end = 0) => {
      longestWait = Math.max(longestWait, given - read);
      read = end;
    },
  };
  const items = [];
  for await (const item of readCsv(pieces(), { head, name: 'file', marks }, itemReader(dialects.usual)))
    items.push(item);
  assert.equal(items.length, 1);
  assert.equal(read, given - 1);
  assert.ok(longestWait < 500_000, `${longestWait} characters of ${given} waited`);
});

test('many entries, tags that are never closed, and quotation marks that are not, cost no more than their length', async (t) => {
  const html = [
    '<dl>',
    '<dt><h3>f</h3><dl>',
    '<a href="',
    "<a href='x ",
    '<a b ',
    '</dl>',
    '<a href="x">',
    '<dd><ul>',
    '&lt',
    '<b ',
  ];
  const plist = '<?xml version="1.0"?><!DOCTYPE plist><plist><array><string>WebBookmarkType</string>';
  const leaf = '<key>URLString</key><string>https://a.example/</string>';
  const rows = ['"', '"\n', 'a,"\n', '"",', '"a"b,', '"a""\n', 'a,"b\n', '"a\nhttps://x,,,,\n"b\n'];
  for (const [head, parts] of [
    ['<!DOCTYPE NETSCAPE-Bookmark-file-1>', html],
    ['<posts>', ['<post ', '<post href="', '<posts>']],
    ['<opml><body>', ['<outline text="a">', '<outline url="https://a.example/"/>']],
    [plist, [`<dict>${leaf}</dict>`]],
    ['[{"uri":"https://a.example/","target":[],"user":"a"}', [',{"uri":"https://a.example/","text":"a"}']],
    ['TY  - JOUR\n', ['KW  - a\n']],
    ['title,url,time_added,tags,status\n', rows],
  ] as const) {
    for (const part of parts) {
      const fileOf = (length: number) => writtenFile(t, head + part.repeat(length / part.length));
      await assertReadsInProportion(30_000, fileOf, `${head}${part}…`);
    }
  }
});

/** As `assertGrowsInProportion`, of what is read in turns with other work. */
async function assertReadsInProportion(size: number, fileOf: (length: number) => string, what: string): Promise<void> {
  const leastMs = async (file: string, enough = 0) => {
    let least = Number.POSITIVE_INFINITY;
    for (let no = 0; no < 3 && least > enough; no++) {
      const before = process.cpuUsage();
      await readItems(file).catch((error) => assert.equal(error.code, 'import', String(error.stack)));
      const { user, system } = process.cpuUsage(before);
      least = Math.min(least, (user + system) / 1000);
    }
    return least;
  };
  const large = await leastMs(fileOf(size), 100);
  if (large <= 100) return;
  const small = await leastMs(fileOf(size / 8));
  assert.ok(large <= small * 40, `${small} ms, then ${large} ms: ${what}`);
}
