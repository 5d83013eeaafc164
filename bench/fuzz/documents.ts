/** Documents of every format that is read, changed at random: cut, repeated, mixed with others, sprinkled with what parsers trip over. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';

/** Public files, where they are next to the checkout; larger ones take seconds each and say no more. */
const shared = join(import.meta.dirname, '../../../shared/data');
const largestSample = 24 * 1024;
const mostSamples = 60;

export function sharedSamples(folder: string): Buffer[] {
  const dir = join(shared, folder);
  if (!existsSync(dir)) return [];
  const paths = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .sort();
  return paths
    .filter((path) => statSync(path).isFile() && !path.endsWith('.gz') && statSync(path).size <= largestSample)
    .slice(0, mostSamples)
    .map((path) => readFileSync(path));
}

const pieces = [
  ...[
    '<',
    '>',
    '</',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?xml version="1.0" encoding="utf-16"?>',
    '&#0;',
    '&#x110000;',
    '&amp;&',
    '"',
    "'",
  ],
  ...[
    '<div>',
    '</div>',
    '<table><tr><td>',
    '<p>',
    '<script>',
    '<style>',
    '<template>',
    '<svg><math>',
    '<a href="',
    '<br/>',
    '<b></p></b>',
  ],
  ...'{ } [ ] [[[[ , : "a": null 1e999 -0 \\u0000 \\ud800 {"__proto__":{"x":1}}'.split(' '),
  ...'\0 \ufeff \r\n \r \n\n \t \u2028 \u202e \ud800 漢字 🌧 e\u0301 \u200b \x1b[31m'.split(' '),
  ...['http://', 'https://a.example/', 'javascript:alert(1)', 'file:///etc/passwd', '9'.repeat(400), 'a'.repeat(5000)],
  ...[
    'site:',
    'title:"',
    '-"',
    '" "',
    'after:2024-99-99',
    'before:',
    'lang:xx-yy',
    '-site:a.example',
    '(((',
    ' OR ',
    ' AND NOT ',
  ],
];

interface Change {
  kind: 'cut' | 'drop' | 'repeat' | 'insert' | 'byte' | 'graft';
  at: number;
  length: number;
  times: number;
  piece: string;
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('cut', 'drop', 'repeat', 'insert', 'insert', 'insert', 'byte', 'graft'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat({ max: 400 }),
  times: fc.constantFrom(2, 3, 30, 300),
  piece: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...pieces) }, fc.string({ unit: 'binary', maxLength: 30 })),
});
/** Of a changed document. */
const largest = 256 * 1024;

function changed(document: Buffer, other: Buffer, { kind, at, length, times, piece }: Change): Buffer {
  const from = Math.floor(at * document.length);
  const [before, part, after] = [
    document.subarray(0, from),
    document.subarray(from, from + length),
    document.subarray(from + length),
  ];
  const rest = document.subarray(from);
  const made = {
    cut: () => before,
    drop: () => Buffer.concat([before, after]),
    repeat: () => Buffer.concat([before, ...Array.from({ length: times }, () => part), after]),
    insert: () => Buffer.concat([before, Buffer.from(piece.repeat(times > 30 ? times : 1)), rest]),
    byte: () => Buffer.concat([before, Buffer.from([length & 255]), document.subarray(from + 1)]),
    graft: () => Buffer.concat([before, other.subarray(Math.floor(at * other.length))]),
  }[kind]();
  return made.subarray(0, largest);
}

/** Documents near to these. */
export function documentsLike(samples: readonly (Buffer | string)[]): fc.Arbitrary<Buffer> {
  const buffers: Buffer[] = samples.map((each) => (typeof each === 'string' ? Buffer.from(each) : each));
  const sample = fc.constantFrom(...buffers);
  return fc.tuple(sample, sample, fc.array(change, { maxLength: 5 })).map(([document, other, changes]) => {
    let now: Buffer = document;
    for (const each of changes) now = changed(now, other, each);
    return now;
  });
}

export const pageSamples = [
  '<!doctype html><html lang="de"><head><title>Der Reiher</title><meta name="author" content="Ann"></head><body><nav>a | b</nav><article><h1>Reiher</h1><p>Reiher waten im flachen Wasser. Sie fangen Fische und Frösche.</p><h2>Nest</h2><p>Das Nest liegt hoch.</p><pre><code>x = 1</code></pre><table><tr><td>1<td>2</table></article></body></html>',
  '<html><head><script type="application/ld+json">{"@type":"Article","headline":"Herons","articleBody":"Herons wade in shallow water."}</script></head><body><div class="post"><p>Herons wade.</p></div><div class="comments"><p>Nice!</p></div></body></html>',
];
export const feedSamples = [
  '<?xml version="1.0"?><rss version="2.0"><channel><title>F</title><link>https://a.example/</link><item><title>One</title><link>/1</link><pubDate>Mon, 06 May 2024 10:00:00 GMT</pubDate><description><![CDATA[<p>One</p>]]></description><enclosure url="https://a.example/1.mp3" type="audio/mpeg"/></item></channel></rss>',
  '<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><entry><title type="html">&lt;b&gt;One</title><link href="https://a.example/1"/><updated>2024-05-06T10:00:00Z</updated><content type="xhtml"><div>One</div></content></entry></feed>',
  '{"version":"https://jsonfeed.org/version/1.1","title":"F","items":[{"id":"1","url":"https://a.example/1","title":"One","content_html":"<p>One</p>","attachments":[{"url":"https://a.example/1.mp3","mime_type":"audio/mpeg"}]}]}',
];
export const importSamples = [
  '<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><H3>Birds</H3><DL><p><DT><A HREF="https://a.example/" ADD_DATE="1600000000" TAGS="a,b">A</A><DD>note</DL></DL>',
  'title,url,time_added,tags,status\nA,https://a.example/,1600000000,,unread\n"B, ""b""",https://b.example/,1600000001,x|y,archive\n',
  '{"roots":{"bookmark_bar":{"type":"folder","name":"bar","children":[{"type":"url","name":"A","url":"https://a.example/","date_added":"13300000000000000"}]}}}',
  '{"bookmarks":[{"createdAt":1600000000,"title":"A","tags":["x"],"content":{"type":"link","url":"https://a.example/"},"note":null}]}',
  '[{"is_archived":0,"is_starred":1,"url":"https://a.example/","title":"A","content":"<p>A</p>","created_at":"2024-05-06T10:00:00Z","tags":["x"]}]',
  '[{"href":"https://a.example/","description":"A","extended":"note","time":"2024-05-06T10:00:00Z","tags":"x y","toread":"no"}]',
  '<?xml version="1.0"?><posts user="a"><post href="https://a.example/" description="A" extended="" tag="x" time="2024-05-06T10:00:00Z"/></posts>',
  '[{"uri":"https://a.example/","target":[{"source":"https://a.example/","selector":[{"type":"TextQuoteSelector","exact":"Herons"}]}],"user":"acct:a","text":"note","created":"2024-05-06T10:00:00Z"}]',
  'TY  - JOUR\r\nTI  - Herons\r\nAU  - Ann\r\nUR  - https://a.example/\r\nER  - \r\n',
  'https://a.example/\nhttps://b.example/x?y=1\n',
];
export const querySamples = [
  'herons wade in shallow water',
  '"exact phrase" -not site:a.example title:"the heron" after:2024-05-06 lang:de',
  'Donaudampfschifffahrtsgesellschaft reiher 漢字 พันธุ์ e\u0301tude',
  'https://a.example/heron?utm_source=x',
];
