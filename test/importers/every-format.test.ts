/** Small originals of each format: how many entries they have, how many are read, and what is kept of the first. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { strToU8, type Zippable, zipSync } from 'fflate';
import { skipReason } from '../../src/compute/import-progress.ts';
import type { ImportItem } from '../../src/domain/import.ts';
import { openSource } from '../../src/importers/open-source.ts';
import { dryRun } from '../../src/importers/run-import.ts';
import { pluck } from '../rows.ts';
import { temporaryFolder } from '../scope.ts';
import { writeHistory } from './history-file.ts';
import { readItems, writtenFile } from './read-items.ts';

const url = 'https://weir.example/';
const title = 'The weir';
const at = '2024-05-05T05:05:05.000Z';
const ms = Date.parse(at);
const tags = ['water', 'mills'];
const text = 'Salmon pass the weir at night.';
const html = `<p>${text}</p>`;

interface Sample {
  is: string;
  content: string | Buffer | Record<string, string | Buffer>;
  format: string;
  /** In the file, and of them with an address on the web. */
  entries: number;
  read?: number;
  /** Of the first entry that is read. */
  kept: Record<string, unknown>;
}

const jsonOf = (value: unknown) => JSON.stringify(value, null, 1);
const zip = (files: Record<string, string | Buffer>): Buffer =>
  Buffer.from(
    zipSync(
      Object.fromEntries(
        Object.entries(files).map(([name, file]) => [
          name,
          [typeof file === 'string' ? strToU8(file) : new Uint8Array(file), { level: name === 'mimetype' ? 0 : 6 }],
        ]),
      ) satisfies Zippable,
    ),
  );
const record = (type: string, headers: string, body: string | Buffer): Buffer => {
  const bytes = Buffer.from(body);
  const head = `WARC/1.1\r\nWARC-Type: ${type}\r\nWARC-Date: ${at}\r\n${headers}Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n\r\n')]);
};
const answer = (status: number, type: string, body: string | Buffer, more = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${status} OK\r\nContent-Type: ${type}\r\n${more}\r\n`), Buffer.from(body)]);
const chunked = '5\r\n<p>Sa\r\n1c\r\nlmon pass the weir at night.\r\n4\r\n</p>\r\n0\r\n\r\n';
const target = (of: string) => `WARC-Target-URI: ${of}\r\nContent-Type: application/http;msgtype=response\r\n`;
const warc = Buffer.concat([
  record('warcinfo', 'Content-Type: application/warc-fields\r\n', 'software: test\r\n'),
  record('request', target(url), `GET / HTTP/1.1\r\n\r\n`),
  record('response', target(url), answer(200, 'text/html; charset=utf-8', chunked, 'Transfer-Encoding: chunked\r\n')),
  record('response', target(`${url}a.png`), answer(200, 'image/png', Buffer.from([0, 1, 2]))),
  record('response', target(`${url}gone`), answer(404, 'text/html', html)),
  record('response', target(`${url}2`), answer(200, 'text/html', gzipSync(html), 'Content-Encoding: gzip\r\n')),
]);
const bookmarks = `<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<DL><p><DT><H3>com.apple.ReadingList</H3><DL><p><DT><A HREF="${url}">${title}</A></DL><p></DL><p>`;
const safariHistory = jsonOf({
  metadata: { browser_name: 'Safari', data_type: 'history', export_time_usec: ms * 1000, schema_version: 1 },
  history: [
    { url, time_usec: ms * 1000, title, visit_count: 2 },
    { url: `${url}2`, time_usec: ms * 1000, source_url: url, source_time_usec: ms * 1000 },
  ],
});
const plistNode = (type: string, rest: string) =>
  `<dict>${rest}<key>WebBookmarkType</key><string>WebBookmark${type}</string></dict>`;
const plistFolder = (name: string, leaves: string) =>
  plistNode('TypeList', `<key>Title</key><string>${name}</string><key>Children</key><array>${leaves}</array>`);
const plistLeaf = (of: string, name: string, rest = '') =>
  plistNode(
    'TypeLeaf',
    `<key>URIDictionary</key><dict><key>title</key><string>${name}</string></dict><key>URLString</key><string>${of}</string>${rest}`,
  );
const readingList = `<key>ReadingList</key><dict><key>DateAdded</key><date>2024-05-05T05:05:05Z</date><key>DateLastViewed</key><date>2024-05-06T05:05:05Z</date><key>PreviewText</key><string>On &lt;fish&gt;</string></dict>`;
const plistOf = (children: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n${plistFolder('', children)}\n</plist>\n`;
/** Written by Python's plistlib: a bookmark in the folder BookmarksBar, and an unread entry of the reading list. */
const binaryPlist = Buffer.from(
  'YnBsaXN0MDDTAQIDBCIUWENoaWxkcmVuXxAWV2ViQm9va21hcmtGaWxlVmVyc2lvbl8QD1dlYkJvb2ttYXJrVHlwZaMFCRXSBgMHCFVUaXRsZVdIaXN0b3J5XxAUV2ViQm9va21hcmtUeXBlUHJveHnTAQYDChMUoQvTDA0DDhESXVVSSURpY3Rpb25hcnlZVVJMU3RyaW5n0Q8QVXRpdGxlbxAQAFcAZQBoAHIAIAAmACAATQD8AGgAbABlACAgFAAgbDRfEBVodHRwczovL3dlaXIuZXhhbXBsZS9fEBNXZWJCb29rbWFya1R5cGVMZWFmXEJvb2ttYXJrc0Jhcl8QE1dlYkJvb2ttYXJrVHlwZUxpc3TTAQYDFiEUoRfUGAwNAxkeIBJbUmVhZGluZ0xpc3TSGhscHVlEYXRlQWRkZWRbUHJldmlld1RleHQzQcXzpYCAAABWU2FsbW9u0Q8fU1R3b18QFmh0dHBzOi8vd2Vpci5leGFtcGxlLzJfEBVjb20uYXBwbGUuUmVhZGluZ0xpc3QQAQAIAA8AGAAxAEMARwBMAFIAWgBxAHgAegCBAI8AmQCcAKIAxQDdAPMBAAEWAR0BHwEoATQBOQFDAU8BWAFfAWIBZgF/AZcAAAAAAAACAQAAAAAAAAAjAAAAAAAAAAAAAAAAAAABmQ==',
  'base64',
);
const passwords = 'Title,URL,Username,Password,Notes,OTPAuth\nWeir,https://weir.example/,ann,secret,,\n';
const container = '<container><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>';
const opf = `<package xmlns:dc="x"><metadata><dc:title>On water</dc:title><dc:creator>Ann Lee</dc:creator><dc:language>en</dc:language></metadata>
<manifest><item id="c1" href="text/one.xhtml"/><item id="cover" href="cover.xhtml"/><item id="c2" href="two%20b.xhtml"/></manifest>
<spine><itemref idref="cover"/><itemref idref="c1"/><itemref idref="c2"/></spine></package>`;
const epub = zip({
  mimetype: 'application/epub+zip',
  'META-INF/container.xml': container,
  'OEBPS/content.opf': opf,
  'OEBPS/cover.xhtml': '<html><head><title>Cover</title></head><body><img src="c.png"/></body></html>',
  'OEBPS/text/one.xhtml': `<html><body><h1>The &amp; weir</h1>${html}</body></html>`,
  'OEBPS/two b.xhtml': '<html><body><h1>The mill</h1><p>Flour.</p></body></html>',
});
const docx = zip({
  '[Content_Types].xml': '<Types/>',
  'word/document.xml': `<w:document><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>${title}</w:t></w:r></w:p><w:p><w:r><w:t xml:space="preserve">Salmon &amp; </w:t></w:r><w:r><w:t>trout.</w:t></w:r></w:p></w:body></w:document>`,
  'docProps/core.xml': `<cp:coreProperties><dc:title>${title}</dc:title><dc:creator>Ann Lee</dc:creator></cp:coreProperties>`,
});
const activity = (rest: string) =>
  `<html><head><title>My Activity History</title><style>.mdl-cell{}</style></head><body><div class="mdl-grid">${rest}</div></body></html>`;
const watched = (what: string) =>
  `<div class="outer-cell mdl-cell"><div class="mdl-grid"><div class="header-cell"><p>YouTube<br></p></div><div class="content-cell mdl-cell mdl-typography--body-1">${what}</div><div class="content-cell mdl-typography--caption"><b>Products:</b><br>YouTube<br>Why is this here? <a href="https://myaccount.google.com/activitycontrols">here</a></div></div></div>`;
const star = {
  id: 'tag:google.com,2005:reader/item/1',
  categories: ['user/1/state/com.google/starred', 'user/1/label/water'],
  title,
  published: 1_700_000_000,
  canonical: [{ href: url }],
  alternate: [{ href: `${url}?feed`, type: 'text/html' }],
  summary: { direction: 'ltr', content: html },
  author: 'Ann Lee',
  origin: { streamId: 'feed/1', title: 'Water Today', htmlUrl: 'https://water.example/' },
  timestampUsec: `${ms}000`,
};
const quotedPrintable = `<html><body><p>Salmon pass the weir at ni=\r\nght=2E Caf=C3=A9</p></body></html>`;

const samples: Sample[] = [
  {
    is: 'Google Takeout, Chrome history JSON',
    content: jsonOf({
      'Browser History': [
        {
          favicon_url: `${url}f.ico`,
          page_transition_qualifier: 'LINK',
          title,
          url,
          client_id: 'x',
          time_usec: ms * 1000,
        },
        { title: 'Settings', url: 'chrome://settings/', time_usec: ms * 1000 },
      ],
    }),
    format: 'google',
    entries: 2,
    read: 1,
    kept: { url, title, at },
  },
  {
    is: 'Google Takeout, reading list CSV',
    content: `Title,Note,URL,Tags,Comment\n${title},mine,${url},water,\n`,
    format: 'csv',
    entries: 1,
    kept: { url, title, tags: ['water'], note: 'mine' },
  },
  {
    is: 'Google Takeout, reading list HTML',
    content: bookmarks.replace('com.apple.ReadingList', 'Reading list'),
    format: 'bookmarks',
    entries: 1,
    kept: { url, title, folder: 'Reading list' },
  },
  {
    is: 'YouTube watch history JSON',
    content: jsonOf([
      {
        header: 'YouTube',
        title: 'Watched How weirs work',
        titleUrl: 'https://www.youtube.com/watch?v=1',
        subtitles: [{ name: 'River channel', url: 'https://www.youtube.com/channel/2' }],
        time: at,
        products: ['YouTube'],
      },
      { header: 'YouTube', title: 'Watched a video that has been removed', time: at, products: ['YouTube'] },
    ]),
    format: 'google',
    entries: 2,
    read: 1,
    kept: {
      url: 'https://www.youtube.com/watch?v=1',
      title: 'How weirs work',
      at,
      author: 'River channel',
      site_name: 'YouTube',
    },
  },
  {
    is: 'YouTube watch history HTML',
    content: activity(
      watched(
        `Watched&nbsp;<a href="https://www.youtube.com/watch?v=1">Weirs &amp; mills</a><br><a href="https://www.youtube.com/channel/2">River channel</a><br>May 5, 2024, 7:05:05\u202fAM CEST`,
      ) + watched('Watched a video that has been removed<br>May 5, 2024, 5:05:05 AM UTC'),
    ),
    format: 'google',
    entries: 2,
    read: 1,
    kept: { url: 'https://www.youtube.com/watch?v=1', title: 'Weirs & mills', at, author: 'River channel' },
  },
  { is: 'Safari export, history JSON', content: safariHistory, format: 'safari', entries: 2, kept: { url, title, at } },
  {
    is: 'Safari export, ZIP: no passwords',
    content: zip({
      'Safari Export/Bookmarks.html': bookmarks,
      'Safari Export/History.json': safariHistory,
      'Safari Export/Passwords.csv': passwords,
    }),
    format: 'files',
    entries: 3,
    kept: { url, title, folder: 'com.apple.ReadingList' },
  },
  {
    is: 'Safari Bookmarks.plist, XML',
    content: plistOf(
      plistNode('TypeProxy', '<key>Title</key><string>History</string>') +
        plistFolder('com.apple.ReadingList', plistLeaf(url, title, readingList)) +
        plistFolder('BookmarksBar', plistFolder('Fish &amp; mills', plistLeaf(`${url}2`, ''))),
    ),
    format: 'safari',
    entries: 2,
    kept: { url, title, at, folder: 'Reading List', description: 'On <fish>', status: 'read' },
  },
  {
    is: 'Safari Bookmarks.plist, binary',
    content: binaryPlist,
    format: 'safari',
    entries: 2,
    kept: { url, title: 'Wehr & Mühle — 水', folder: 'BookmarksBar' },
  },
  {
    is: 'Safari bookmarks HTML with a reading list',
    content: bookmarks,
    format: 'bookmarks',
    entries: 1,
    kept: { url, title, folder: 'com.apple.ReadingList' },
  },
  {
    is: 'Matter CSV',
    content: `Title,Author,Publisher,URL,Tags,Word Count,In Queue,Favorited,Read,Highlight Count,Last Interaction Date,File Id\n${title},Ann Lee,Water Today,${url},"water, mills",900,False,True,True,0,${at},\nNote,,,,,,True,False,False,0,,\n`,
    format: 'csv',
    entries: 2,
    read: 1,
    kept: { url, title, at, tags, author: 'Ann Lee', site_name: 'Water Today', status: 'read', starred: true },
  },
  {
    is: 'mymind CSV',
    content: `id,type,title,url,content,note,tags,created\n1,Note,Mine,,Some text,,,${at}\n2,Article,${title},${url},${text},mine,"water,mills",${at}\n`,
    format: 'csv',
    entries: 2,
    read: 1,
    kept: { url, title, at, tags, note: 'mine', text },
  },
  {
    is: 'Readeck CSV',
    content: `url,title,state,created,labels\n${url},${title},archived,${at},"[""water"",""mills""]"\n`,
    format: 'csv',
    entries: 1,
    kept: { url, title, at, tags, status: 'archived' },
  },
  {
    is: 'Readeck JSON of its interface',
    content: jsonOf([
      {
        id: 'x',
        href: 'https://readeck.example/api/bookmarks/x',
        created: at,
        state: 0,
        url,
        title,
        site_name: 'Water Today',
        authors: ['Ann Lee'],
        lang: 'en',
        labels: tags,
        is_marked: true,
        is_archived: false,
        read_progress: 3,
      },
    ]),
    format: 'json',
    entries: 1,
    kept: { url, title, at, tags, author: 'Ann Lee', site_name: 'Water Today', lang: 'en', starred: true },
  },
  {
    is: 'GoodLinks JSON',
    content: jsonOf([
      {
        url,
        title,
        summary: 'On fish',
        tags,
        starred: true,
        addedAt: ms / 1000 + 0.5,
        readAt: ms / 1000,
        highlights: [{ content: 'Salmon', note: 'Mine' }],
      },
    ]),
    format: 'json',
    entries: 1,
    kept: {
      url,
      title,
      at: '2024-05-05T05:05:05.500Z',
      tags,
      highlights: ['Salmon\nMine'],
      description: 'On fish',
      status: 'read',
      starred: true,
    },
  },
  {
    is: 'Tab Session Manager JSON',
    content: jsonOf([
      {
        windows: { 1: { 10: { id: 10, url, title, lastAccessed: ms }, 11: { id: 11, url: `${url}2` } } },
        tabsNumber: 2,
        name: 'Water',
        date: ms,
        tag: ['mills'],
        sessionStartTime: ms,
      },
    ]),
    format: 'json',
    entries: 2,
    kept: { url, title, at, folder: 'Water', tags: ['mills'] },
  },
  {
    is: 'OneTab',
    content: `${url} | ${title}\n${url}2 | Another\n\n${url}3 | In the next group\n`,
    format: 'urls',
    entries: 3,
    kept: { url, title },
  },
  {
    is: 'History Trends TSV of an archive',
    content: `${url}\tU${ms}.123\t0\t${title}\n${url}?a,b;c\tU${ms}\t1\tAnother\n`,
    format: 'csv',
    entries: 2,
    kept: { url, title, at },
  },
  {
    is: 'History Trends TSV for analysis',
    content: `${url}\tweir.example\tweir.example\t${ms}\t2024-05-05 05:05:05\t0\tlink\t${title}\n`,
    format: 'csv',
    entries: 1,
    kept: { url, title, at },
  },
  {
    is: 'Hister JSON lines',
    content: `${JSON.stringify({ url, domain: 'weir.example', title, html: `<html><body><nav>Menu</nav>${html}</body></html>`, text, added: ms / 1000 })}\n{"url": "https://cut.exa\n${JSON.stringify({ url: `${url}2`, title: 'Two' })}\n`,
    format: 'json',
    entries: 2,
    kept: { url, title, at, text },
  },
  {
    is: 'OPML',
    content: `<?xml version="1.0"?>\n<opml version="2.0"><head><title>Feeds</title></head><body><outline text="Water"><outline type="rss" text="Weir &amp; mill" title="${title}" xmlUrl="${url}feed" htmlUrl="${url}" category="water,mills"/></outline><outline text="Link" type="link" url="${url}2"></outline></body></opml>`,
    format: 'opml',
    entries: 2,
    kept: { url, title, tags, folder: 'Water' },
  },
  {
    is: 'Inoreader stars',
    content: jsonOf({ direction: 'ltr', id: 'user/1/state/com.google/starred', title: 'Starred', items: [star] }),
    format: 'reader',
    entries: 1,
    kept: {
      url,
      title,
      at,
      tags: ['water'],
      author: 'Ann Lee',
      published_at: '2023-11-14T22:13:20.000Z',
      site_name: 'Water Today',
      starred: true,
      html,
    },
  },
  {
    is: 'Feedly saved',
    content: jsonOf([
      {
        id: 'x',
        title,
        alternate: [{ href: url, type: 'text/html' }],
        author: 'Ann Lee',
        published: 1_700_000_000_000,
        actionTimestamp: ms,
        content: { content: html },
        tags: [{ id: 'user/1/tag/w', label: 'water' }, { id: 'user/1/tag/global.saved' }],
        origin: { title: 'Water Today' },
      },
    ]),
    format: 'reader',
    entries: 1,
    kept: {
      url,
      title,
      at,
      tags: ['water'],
      author: 'Ann Lee',
      published_at: '2023-11-14T22:13:20.000Z',
      site_name: 'Water Today',
      starred: true,
      html,
    },
  },
  {
    is: 'Delicious JSON',
    content: jsonOf([{ title, tags, url, description: 'mine', created: String(ms / 1000), others: 3, owner: 'ann' }]),
    format: 'pinboard',
    entries: 1,
    kept: { url, title, at, tags, note: 'mine' },
  },
  {
    is: 'elCurator JSON',
    content: jsonOf([{ created_at: at, title, url, description: 'On fish', tags, is_saved: true }]),
    format: 'elcurator',
    entries: 1,
    kept: { url, title, at, tags, description: 'On fish', starred: true },
  },
  {
    is: 'Scuttle XML',
    content: `<?xml version="1.0"?>\n<posts update="${at}" user="ann"><post href="${url}" description="${title}" extended="mine" tag="water mills" time="${at}" hash="x"/></posts>`,
    format: 'pinboard',
    entries: 1,
    kept: { url, title, at, tags, note: 'mine' },
  },
  {
    is: 'Scuttle CSV',
    content: `url;title;tags;description\n"${url}";"${title}";"water,mills";"On fish"\n`,
    format: 'csv',
    entries: 1,
    kept: { url, title, tags, description: 'On fish' },
  },
  {
    is: 'SingleFile',
    content: `<!DOCTYPE html> <html lang=en><!--\n Page saved with SingleFile \n url: ${url} \n saved date: Sun May 05 2024 07:05:05 GMT+0200 (Central European Summer Time)\n--><meta charset=utf-8><title>${title}</title><img src="data:image/png;base64,${'A'.repeat(500)}">${html}`,
    format: 'page',
    entries: 1,
    kept: { url, at, page: true, html: /<title>The weir<\/title><img src="data:,"><p>Salmon/ },
  },
  {
    is: 'page saved by a browser',
    content: `<!DOCTYPE html>\n<!-- saved from url=(0021)${url} -->\n<html><body>${html}</body></html>`,
    format: 'page',
    entries: 1,
    kept: { url, page: true, html: /Salmon/ },
  },
  {
    is: 'page with a canonical address',
    content: `<!doctype html><html><head><link rel="canonical" href="${url}?a=1&amp;b=2"></head><body>${html}</body></html>`,
    format: 'page',
    entries: 1,
    kept: { url: `${url}?a=1&b=2`, page: true, html: /Salmon/ },
  },
  {
    is: 'EPUB with prefixed names, a chapter above its folder, and a bare percent sign',
    content: zip({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml': container,
      'OEBPS/content.opf':
        '<opf:package><opf:manifest><opf:item id="a" href="../Text/1.xhtml"/><opf:item id="b" href="100%.xhtml"/></opf:manifest><opf:spine><opf:itemref idref="a"/><opf:itemref idref="b"/><opf:itemref idref="b"/></opf:spine></opf:package>',
      'Text/1.xhtml': `<html><body><h1>${title}</h1>${html}</body></html>`,
      'OEBPS/100%.xhtml': '<html><body><p>All.</p></body></html>',
    }),
    format: 'files',
    entries: 2,
    kept: { url: 'http://files.localhost/file/Text/1.xhtml', title, html: /Salmon/ },
  },
  {
    is: 'front matter with bare words',
    content: { 'a.md': `---\ntitle: 1984\nurl: ${url}\ntags: [water, mills]\n---\n${text}\n` },
    format: 'files',
    entries: 1,
    kept: { url, title: '1984', tags, text },
  },
  {
    is: 'MHTML',
    content: `From: <Saved by Blink>\r\nSnapshot-Content-Location: ${url}\r\nSubject: ${title}\r\nDate: Sun, 5 May 2024 05:05:05 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\ttype="text/html";\r\n\tboundary="----Boundary--x"\r\n\r\n\r\n------Boundary--x\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Location: ${url}\r\n\r\n${quotedPrintable}\r\n------Boundary--x\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n------Boundary--x--\r\n`,
    format: 'page',
    entries: 1,
    kept: { url, at, page: true, html: /at night\. Café<\/p>/ },
  },
  { is: 'WARC', content: warc, format: 'warc', entries: 2, kept: { url, at, page: true, html } },
  { is: 'WARC, gzip', content: gzipSync(warc), format: 'warc', entries: 2, kept: { url, at, page: true, html } },
  {
    is: 'WACZ',
    content: zip({
      'archive/data.warc.gz': gzipSync(warc),
      'pages/pages.jsonl': `{"format":"json-pages-1.0"}\n{"url":"${url}"}\n`,
      'datapackage.json': '{}',
    }),
    format: 'warc',
    entries: 2,
    kept: { url, at, page: true, html },
  },
  {
    is: 'Markdown list of links',
    content: `# Reading\n\nSome words.\n\n## Water\n\n- [${title}](${url}) - on fish\n* [Mill \\[old\\]](<${url}a_(b)> "hover")\n![picture](${url}p.png)\n\n1. <${url}3> and [four](${url}4)\n`,
    format: 'urls',
    entries: 4,
    kept: { url, title, folder: 'Reading/Water', note: 'on fish' },
  },
  { is: 'plain list of addresses', content: `# mine\n${url}\n${url}2\n`, format: 'urls', entries: 2, kept: { url } },
  {
    is: 'any CSV with a column of addresses',
    content: `Bezeichnung,Verweis,Zahl\n"${title}, old",${url},3\nMill,${url}2,4\n`,
    format: 'csv',
    entries: 2,
    kept: { url },
  },
  {
    is: 'any JSON with addresses',
    content: jsonOf({
      version: 1,
      shelves: [{ name: 'Water', items: [{ Link: url, Title: title, 'Created At': at, is_read: true }] }],
    }),
    format: 'json',
    entries: 1,
    kept: { url, title, at, folder: 'Water', status: 'read' },
  },
  {
    is: 'Omnivore, ZIP',
    content: zip({
      'metadata_0_to_1.json': jsonOf([{ slug: 'weir-1', url, title, savedAt: at, labels: tags, state: 'Archived' }]),
      'content/weir-1.html': html,
      'highlights/weir-1.md': 'On fish\n\n\n\n> Salmon\n> pass \n\n#fish\n\nMine\n\n> Trout ',
    }),
    format: 'omnivore',
    entries: 1,
    kept: {
      url,
      title,
      at,
      tags,
      status: 'Archived',
      html,
      note: 'On fish',
      highlights: ['Salmon\npass\n#fish\nMine', 'Trout'],
    },
  },
  {
    is: 'Omnivore, ZIP in a ZIP',
    content: zip({
      'exports/omnivore.zip': zip({
        'metadata_0_to_1.json': jsonOf([{ slug: 'weir-1', url, title, savedAt: at, labels: tags, state: 'Archived' }]),
        'content/weir-1.html': html,
      }),
    }),
    format: 'omnivore',
    entries: 1,
    kept: { url, title, at, tags, status: 'Archived', html },
  },
  {
    is: 'EPUB by chapter',
    content: epub,
    format: 'files',
    entries: 2,
    kept: {
      url: 'http://files.localhost/file/text/one.xhtml',
      title: 'On water — The & weir',
      author: 'Ann Lee',
      lang: 'en',
      folder: 'On water',
      html: /Salmon/,
    },
  },
  {
    is: 'DOCX',
    content: docx,
    format: 'files',
    entries: 1,
    kept: {
      url: 'http://files.localhost/file',
      title,
      author: 'Ann Lee',
      html: `<h1>${title}</h1>\n<p>Salmon &amp; trout.</p>`,
    },
  },
  {
    is: 'PDF',
    content: '%PDF-1.7\n',
    format: 'files',
    entries: 1,
    kept: { url: 'http://files.localhost/file', pdf: true },
  },
  {
    is: "a folder of one's own files",
    content: {
      'a note.md': `---\ntitle: "${title}"\nsource: ${url}\ntags:\n  - water\n  - mills\nauthor: Ann Lee\ncreated: ${at}\n---\n\n# A heading\n\n${text}\n`,
      'deep/plain.txt': text,
      'page.html': `<!doctype html><title>T</title>${html}`,
      'book.epub': epub,
      'picture.png': Buffer.from([0x89, 0x50, 0, 0]),
      '.hidden/secret.md': 'not read',
    },
    format: 'files',
    entries: 5,
    kept: { url, title, at, tags, author: 'Ann Lee', text: `# A heading\n\n${text}` },
  },
];

const everything = { since: null, min_visits: 1 };
const asWritten = { tracking_params: [], keep_params: {} };

function keptOf(item: ImportItem, isOwn: boolean): Record<string, unknown> {
  const { body_html, body_text, pdf } = item;
  return Object.fromEntries(
    Object.entries({
      url: item.url.replace(/^(http:\/\/files\.localhost\/)[0-9a-f]{8}\//, '$1'),
      title: item.title,
      at: item.at === null || isOwn ? null : new Date(item.at).toISOString(),
      ...item.metadata,
      page: item.whole_page,
      html: body_html,
      text: body_text,
      pdf: pdf && true,
    }).filter(([, value]) => value != null),
  );
}

function written(t: TestContext, content: Sample['content']): string {
  if (typeof content === 'string' || Buffer.isBuffer(content)) return writtenFile(t, content);
  const dir = temporaryFolder(t);
  for (const [name, file] of Object.entries(content)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), file);
  }
  return dir;
}

for (const { is, content, format, entries, read = entries, kept } of samples)
  test(`${is}: ${read} of ${entries} entries are read, with what the format has`, async (t) => {
    const path = written(t, content);
    const found = await readItems(path);
    const isEntry = (item: ImportItem) => item.fault === null && item.left_out === undefined;
    const good = found.items.filter((item) => skipReason(item, everything) === null && isEntry(item));
    const [first] = good;
    const { html: wanted, ...rest } = kept;
    const { html: html_, ...others } = keptOf(first, !('at' in kept));
    assert.deepEqual(
      { format: found.format, entries: found.items.filter(isEntry).length, read: good.length, kept: others },
      { format, entries, read, kept: rest },
    );
    if (wanted instanceof RegExp) assert.match(String(html_), wanted);
    else assert.equal(html_, wanted);
    const { items, examples } = await dryRun(await openSource(path, null), everything, asWritten);
    assert.equal(items, read);
    for (const { place, reason } of examples) {
      assert.ok(reason !== '', 'why it is skipped');
      if (typeof content === 'string') assert.match(place, /, line \d+$/);
    }
  });

test('a binary property list that is damaged, or whose lists contain themselves, is refused; its reading list has dates', async (t) => {
  const { items } = await readItems(writtenFile(t, binaryPlist));
  assert.deepEqual(keptOf(items[1], false), {
    url: `${url}2`,
    title: 'Two',
    at,
    folder: 'Reading List',
    description: 'Salmon',
    status: 'unread',
  });
  const looped = Buffer.from(binaryPlist);
  const children = looped.indexOf(Buffer.from([0xa3, 5, 9, 0x15]));
  looped[children + 1] = 0;
  const long = Buffer.from(binaryPlist);
  long.writeUInt8(0x20, long.length - 26);
  const cases = [looped, long, binaryPlist.subarray(0, -40), binaryPlist.subarray(0, 100)];
  for (const content of cases)
    await assert.rejects(readItems(writtenFile(t, content)), {
      code: 'import',
      message: /damaged or truncated property list/,
    });
});

test('a history in a ZIP archive is read; what is no list is left out by name, with its reason', async (t) => {
  const history = join(temporaryFolder(t), 'History');
  writeHistory(history, [{ url, title, visits: [{ at: ms }] }]);
  const path = writtenFile(
    t,
    zip({ 'Default/History': readFileSync(history), 'Default/x.bin': Buffer.from([0, 1]), 'Passwords.csv': passwords }),
  );
  const { format, items } = await readItems(path);
  assert.equal(format, 'chromium');
  assert.deepEqual(
    items.map((item) => [item.url || item.title, item.left_out]),
    [
      [url, undefined],
      ['Default/x.bin', 'the file is neither text nor a database of a browser'],
      ['Passwords.csv', 'the file is passwords of a browser, which are not imported'],
    ],
  );
});

test('archives that are cut off, encrypted, bombs, or lead out of themselves are refused before anything is read', async (t) => {
  const whole = zip({ 'list.txt': `${url}\n`.repeat(2000) });
  const encrypted = Buffer.from(whole);
  for (const mark of ['PK\x03\x04', 'PK\x01\x02']) {
    const flags = encrypted.indexOf(mark, 0, 'latin1') + (mark === 'PK\x03\x04' ? 6 : 8);
    encrypted.writeUInt16LE(1, flags);
  }
  const lying = Buffer.from(whole);
  lying.writeUInt32LE(100, lying.indexOf('PK\x01\x02', 0, 'latin1') + 24);
  const bomb = zip({ 'bomb.txt': Buffer.alloc(80 * 2 ** 20, `${url}\n`) });
  const cases: [content: Buffer, message: RegExp][] = [
    [whole.subarray(0, whole.length / 2), /damaged or truncated ZIP/],
    [encrypted, /encrypted/],
    [bomb, /unpacks to too many bytes/],
    [zip({ '../../evil.txt': url }), /path leaves the archive: "\.\.\/\.\.\/evil\.txt"/],
    [zip({ 'C:\\evil.txt': url }), /path leaves the archive/],
  ];
  for (const [content, message] of cases)
    await assert.rejects(openSource(writtenFile(t, content), null), { code: 'import', message });
  const inner = zip({ 'a.txt': Buffer.alloc(30 * 2 ** 20, ' '), 'b.txt': Buffer.alloc(30 * 2 ** 20, ' ') });
  await assert.rejects(
    openSource(writtenFile(t, zip({ '1.zip': inner, '2.zip': inner })), null),
    /unpacks to too many/,
  );
  const faulty = zip({
    'cut.zip': whole.subarray(0, -9),
    'deep.zip': zip({ 'deeper.zip': whole }),
    'evil.zip': zip({ '../x': url }),
    'list.txt': `${url}\n`,
  });
  assert.deepEqual(
    (await readItems(writtenFile(t, faulty))).items.map((item) => item.url || (item.fault ?? item.left_out)),
    [
      url,
      'cut.zip is a damaged or truncated ZIP archive',
      'evil.zip has a file whose path leaves the archive: "../x"',
      'the file is an archive in an archive: unpack it first',
    ],
  );
  const { items } = await readItems(writtenFile(t, lying)).catch((error) => ({ items: [{ fault: error.message }] }));
  assert.match(String(items.at(-1)?.fault), /unpacks to too many bytes/);
  const gzip = writtenFile(t, gzipSync(`${url}\n`.repeat(100)).subarray(0, 60));
  await assert.rejects(readItems(gzip), { code: 'import', message: /is damaged: it cannot be unpacked/ });
});

test("a folder's notes with links keep their texts, its archives their names, and a bad file costs no other", async (t) => {
  const dir = written(t, {
    'a.md': '# Weirs\nA long text.\nMore of it.\n- see [x](https://x.example/)',
    'b.md': `${url}\nA text on it.\nMore.\n`,
    'bad.zip': zip({ 'x.txt': text }).subarray(0, 60),
    'list.md': `# Links\n- [${title}](${url})\n`,
    'long.gz': gzipSync(Array.from({ length: 10_000 }, (_, no) => `${url}${no}\n`).join(''), { level: 0 }).subarray(
      0,
      200_000,
    ),
    'one.zip': zip({ 'index.html': '<!doctype html><p>One</p>' }),
    'two.zip': zip({ 'index.html': '<!doctype html><p>Two</p>' }),
  });
  const { items } = await readItems(dir);
  const own = `http://files.localhost/${basename(dir)}`;
  assert.deepEqual(
    items.map((item) => item.fault ?? item.url).filter((each) => !/^https:.*\d$/.test(each)),
    [
      `${own}/a.md`,
      `${own}/b.md`,
      url,
      'long.gz is damaged: it cannot be unpacked',
      `${own}/one.zip/index.html`,
      `${own}/two.zip/index.html`,
      'bad.zip is a damaged or truncated ZIP archive',
    ],
  );
});

test('files of one name are pages of their own: in the command by path, uploaded ones by content', async (t) => {
  const [one, changed, same] = ['One.\n', 'Two.\n', 'One.\n'].map((content) => writtenFile(t, content, 'notes.md'));
  const addressOf = async (path: string, name: string) => {
    for await (const { url } of (await openSource(path, null, name)).items()) return url;
    return assert.fail(name);
  };
  const addresses = await Promise.all([one, changed, same].map((path) => addressOf(path, path)));
  assert.deepEqual([new Set(addresses).size, await addressOf(one, one)], [3, addresses[0]]);
  assert.match(addresses[0], /^http:\/\/files\.localhost\/[0-9a-f]{8}\/notes\.md$/);
  const uploaded = await Promise.all([one, changed, same].map((path) => addressOf(path, 'notes.md')));
  assert.deepEqual([new Set(uploaded).size, uploaded[2]], [2, uploaded[0]]);
});

test('of a folder only files that are not known, or differ, are read; one with an unreadable name is reported once', async (t) => {
  const dir = written(t, { 'a.md': 'A note.', 'b.md': 'Another.', 'c.png': Buffer.from([0x89, 0, 0]) });
  const latin1 = Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0x64, 0xff])]);
  writeFileSync(latin1, 'A name in Latin 1.');
  const known = new Map<string, string>();
  const read = async () => {
    const { files = known, items } = await openSource(dir, 'files', dir, null, known);
    const found: (string | null)[] = [];
    for await (const item of items()) found.push(item.fault ?? item.left_out ?? item.title);
    for (const [file, state] of files) known.set(file, state);
    return found;
  };
  const png = 'the file is neither text nor a database of a browser';
  assert.deepEqual(await read(), ['a.md', 'b.md', 'd\ufffd: it cannot be read (ENOENT)', png]);
  assert.deepEqual(await read(), []);
  writeFileSync(join(dir, 'b.md'), 'Changed.');
  rmSync(join(dir, 'a.md'));
  unlinkSync(latin1);
  assert.deepEqual(await read(), ['b.md']);
});

test('of the profile of a browser its history and bookmarks are read, and no settings or logs as own files', async (t) => {
  const bookmark = { type: 'url', name: 'B', url, date_added: '13161017367315765' };
  const levelDb = {
    '000003.log': Buffer.from([1, 0, 2]),
    CURRENT: 'MANIFEST-000001\n',
    LOG: '2026/12/01-11:08:10.743 2078 Creating DB /x since it was missing.\n',
  };
  const profile = {
    'Local State': '{"user": "a@a.example"}',
    'Default/Bookmarks': JSON.stringify({ roots: { bookmark_bar: { children: [bookmark], type: 'folder' } } }),
    'Default/Preferences': '{"account": "a@a.example"}',
    'Default/README': 'A profile.',
    'Default/Extensions/x/links.json': '[{"url": "https://x.example/"}]',
    ...Object.fromEntries(
      Object.entries(levelDb).map(([name, content]) => [`Default/Sync Data/LevelDB/${name}`, content]),
    ),
  };
  for (const source of [written(t, profile), writtenFile(t, zip(profile))]) {
    const { items } = await readItems(source);
    assert.deepEqual(pluck(items, 'url').filter(Boolean), [url]);
    assert.ok(items.some(({ left_out }) => left_out?.includes('Google Takeout')));
  }
  await assert.rejects(readItems(written(t, levelDb)), { code: 'import', message: /reading list .* Google Takeout/ });
  const notes = await readItems(written(t, { Bookmarks: profile['Default/Bookmarks'], 'a.md': 'A note.' }));
  assert.equal(pluck(notes.items, 'url').filter(Boolean).length, 2, 'a folder that is no profile');
});

test('one damaged file of a folder costs no other', async (t) => {
  const dir = written(t, { 'a.json': `[{"url":"${url}","title":"A"},{"url`, 'b.txt': `${url}2\n` });
  const { items } = await readItems(dir);
  assert.deepEqual(
    items.map((item) => item.fault?.replace(dir, 'DIR') ?? item.url),
    [url, 'DIR, a.json is cut off: it ends within its JSON', `${url}2`],
  );
});
