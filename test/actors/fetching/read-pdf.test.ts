/** PDFs through their thread: text, order, headers, sections and facts; and those that cannot be read, with the reason. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openPdfReader } from '../../../src/actors/fetching/extract-page.ts';
import { FetchError } from '../../../src/providers/fetch-error.ts';
import { hostilePdfs } from '../../compute/extraction/hostile-pdfs.ts';
import { type SmallLine, smallPdf } from '../../compute/extraction/small-pdf.ts';

const settings = {
  strip_repeated_lines: true,
  repeated_line_ratio: 0.6,
  repeated_line_scan: 2,
  min_pages_for_stripping: 3,
};
const reader = openPdfReader(settings);
const unstripped = openPdfReader({ ...settings, strip_repeated_lines: false });
after(() => Promise.all([reader.close(), unstripped.close()]));

async function read(bytes: Uint8Array, thread = reader, type = 'application/pdf') {
  return thread.of('library')[type]({ bytes: new Uint8Array(bytes), charset: null }, new AbortController().signal);
}

const sentence = (no: number) => `Weir number ${no} was built of willow and of stone by the millers of the`;
/** Lines of running text, one below the other. */
const block = (x: number, top: number, texts: readonly string[], size = 10): SmallLine[] =>
  texts.map((text, at) => ({ text, x, y: top - at * 12, size }));

test('two columns are read one after the other, below a heading over both', async () => {
  const left = Array.from({ length: 8 }, (_, at) => `left ${at} willow rods and stones of the old`);
  const right = Array.from({ length: 8 }, (_, at) => `right ${at} eels in the autumn by the new mill`);
  const lines = [
    { text: 'Weirs of the North and of the South', x: 150, y: 720, size: 18 },
    ...block(50, 680, left),
    ...block(310, 680, right),
  ];
  const page = await read(smallPdf({ pages: [lines.sort((a, b) => b.y - a.y)] }));
  assert.deepEqual(page, {
    title: 'Weirs of the North and of the South',
    text: `Weirs of the North and of the South\n\n${[...left, ...right].join(' ')}`,
    sections: [{ char_start: 0, title: 'Weirs of the North and of the South' }],
    author: null,
    published_at: null,
    lang: null,
    site_name: null,
    content_type: 'application/pdf',
  });
});

test('a table is read by rows', async () => {
  const rows = ['Eel', 'Pike', 'Carp', 'Tench', 'Bream', 'Roach'].flatMap((name, at) => [
    { text: name, x: 72, y: 700 - at * 14 },
    { text: String(at * 10), x: 300, y: 700 - at * 14 },
  ]);
  const { text } = await read(smallPdf({ pages: [rows] }));
  assert.equal(text, 'Eel\t0\nPike\t10\nCarp\t20\nTench\t30\nBream\t40\nRoach\t50');
});

test('words that are broken at the end of a line are mended, those with a hyphen of their own keep it', async () => {
  const lines = block(72, 700, [
    'The well-known weir was described by one who had seen it in the autumn, when the wil-',
    'low rods were cut. It is a well-',
    'known place.',
  ]);
  const { text } = await read(smallPdf({ pages: [lines] }));
  assert.match(text, /when the willow rods were cut\. It is a well-known place\./);
});

const headed = (count: number, header: (no: number) => string) =>
  smallPdf({
    pages: Array.from({ length: count }, (_, no) => [
      { text: header(no), x: 72, y: 760 },
      ...block(72, 700, [sentence(no * 10), 'north, and it stood for a hundred years until the river took it away.']),
      { text: `Page ${no + 1} of ${count}`, x: 280, y: 30 },
    ]),
  });

test('headers and footers go: those on all pages, those of a chapter, and numbers', async () => {
  const same = await read(headed(8, () => 'The Book of Weirs'));
  assert.ok(!same.text.includes('Book of Weirs') && !same.text.includes('Page '), same.text);
  assert.equal(same.text.match(/Weir number/g)?.length, 8);
  const chapters = await read(
    headed(12, (no) => `Chapter ${Math.floor(no / 4)} ${['Willow', 'Stone', 'Eels'][Math.floor(no / 4)]}`),
  );
  assert.ok(!chapters.text.includes('Chapter'), chapters.text);
  const sides = await read(headed(10, (no) => (no % 2 === 0 ? 'The Book of Weirs' : 'Jo Weaver')));
  assert.ok(!/Book of Weirs|Jo Weaver/.test(sides.text), sides.text);
});

test('settings say whether, and few pages have no headers', async () => {
  const unchanged = await read(
    headed(8, () => 'The Book of Weirs'),
    unstripped,
  );
  assert.match(unchanged.text, /Book of Weirs/);
  assert.match((await read(headed(2, () => 'The Book of Weirs'))).text, /Book of Weirs/);
});

test('headings set larger, or in another font and apart, become sections; metadata become facts', async () => {
  const lines = [
    { text: 'Willow', x: 72, y: 740, size: 16 },
    ...block(72, 715, [sentence(1), 'north, and it stood for a hundred years until the river took it.']),
    { text: 'How they were built', x: 72, y: 670, bold: true },
    ...block(72, 650, [sentence(2), 'south, and it stood for ten years until the river took it away.']),
  ];
  const info = "/Title (Weirs of the North) /Author (Jo Weaver) /CreationDate (D:20200203040506+01'00')";
  const page = await read(smallPdf({ pages: [lines], info }));
  const facts = [page.title, page.author, page.published_at];
  assert.deepEqual(facts, ['Weirs of the North', 'Jo Weaver', '2020-02-03T03:05:06.000Z']);
  const titles = page.sections.map(({ title }) => title);
  assert.deepEqual(titles, ['Willow', 'How they were built']);
  for (const { char_start, title } of page.sections) assert.ok(page.text.slice(char_start).startsWith(title ?? '?'));
  const named = await read(smallPdf({ pages: [lines], info: '/Title (scan_0001.pdf) /Author (admin)' }));
  assert.deepEqual([named.title, named.author], ['Willow', null]);
});

test('turned pages are read along their lines', async () => {
  const { text } = await read(smallPdf({ pages: [block(72, 700, [sentence(1), 'north.'])], rotate: 90 }));
  assert.equal(text, `${sentence(1)} north.`);
});

test('an unnamed file is read by its mark only', async () => {
  const bytes = smallPdf({ pages: [block(72, 700, [sentence(1)])] });
  for (const type of ['application/octet-stream', 'binary/octet-stream', 'application/force-download']) {
    assert.equal((await read(bytes, reader, type)).text, sentence(1));
    await assert.rejects(read(Buffer.from('PK'), reader, type), { message: `unsupported content type ${type}` });
  }
  await assert.rejects(read(Buffer.from('<html>'), reader), { message: /^is not a PDF, although its/ });
});

test('hostile PDFs end with a reason, and the next one is read', async () => {
  for (const [name, { bytes, reason }] of Object.entries(hostilePdfs)) {
    const error: unknown = await read(bytes()).catch((reason) => reason);
    assert.ok(error instanceof FetchError && error.permanent && reason.test(error.message), `${name}: ${error}`);
  }
  assert.equal((await read(smallPdf({ pages: [block(72, 700, [sentence(1)])] }))).text, sentence(1));
});

test("a reading that is aborted ends with the signal's reason, and the next one goes on", async () => {
  const abort = new AbortController();
  const bomb = { bytes: hostilePdfs['a flate bomb'].bytes(), charset: null };
  const reading = reader.of('library')['application/pdf'](bomb, abort.signal);
  abort.abort(new Error('enough'));
  await assert.rejects(reading, { message: 'enough' });
  assert.equal((await read(smallPdf({ pages: [block(72, 700, [sentence(1)])] }))).text, sentence(1));
});

const folder = join(import.meta.dirname, '../../../../shared/data/pdf');

test('PDFs of many programs are read', async (t) => {
  if (!existsSync(folder)) return t.skip(`no test data in ${folder}`);
  const readFile = (name: string) => read(readFileSync(join(folder, name)));
  const expected: Record<string, { words: string[]; absent?: RegExp; title: string | null; sections?: string[] }> = {
    'bash.pdf': {
      words: ['Bourne-Again SHell', 'POSIX-conformant by default'],
      absent: /BASH\(1\)|General Commands Manual|GNU Bash 5\.\d \d{4}/,
      title: null,
      sections: ['SYNOPSIS', 'OPTIONS'],
    },
    'google-doc-document.pdf': { words: ['Beautiful is better than ugly'], title: 'PDF Example Document' },
    'habibi.pdf': { words: ['habibi'], title: 'habibi' },
    'habibi-rotated.pdf': { words: ['habibi'], title: null },
    'multi_page.pdf': {
      words: ['Christopher Latham Sholes', 'Pre-Digital Era'],
      title: 'The Evolution of the Word Processor',
    },
    'multicolumn.pdf': {
      words: ['Nam arcu libero, nonummy eget, consectetuer id', 'Maecenas lacinia. Nam ipsum ligula'],
      title: 'Two-Column Document with Lorem Ipsum',
    },
    'normal_4pages.pdf': {
      words: ['세계보건기구(WHO)'],
      title: '코로나-19 관련 보험약관상 재해보험금 지급문제 및 개선과제',
    },
    'pdflatex-4-pages.pdf': { words: ['Huardest gefburn'], title: null },
  };
  for (const [name, { words, absent, title, sections = [] }] of Object.entries(expected)) {
    const page = await readFile(name);
    const flat = page.text.replace(/\s+/g, ' ');
    for (const phrase of words) assert.ok(flat.includes(phrase), `${name}: ${phrase}`);
    if (absent !== undefined) assert.doesNotMatch(page.text, absent, name);
    assert.equal(page.title, title, name);
    const titles = page.sections.map((section) => section.title);
    for (const section of sections) assert.ok(titles.includes(section), `${name}: ${section}`);
  }
  await assert.rejects(readFile('libreoffice-writer-password.pdf'), { message: 'the PDF needs a password' });
  await assert.rejects(readFile('unreadablemetadata.pdf'), { message: 'the PDF is broken' });
});

test('the words of a long manual are those that its publisher wrote', async (t) => {
  if (!existsSync(folder)) return t.skip(`no test data in ${folder}`);
  const count = (text: string) => {
    const counts = new Map<string, number>();
    for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  };
  const published = count(readFileSync(join(folder, 'policy.expected.txt'), 'utf8'));
  const page = await read(readFileSync(join(folder, 'policy.pdf')));
  assert.equal(page.title, 'Debian Policy Manual');
  assert.doesNotMatch(page.text, /Debian Policy Manual, Release|^Chapter \d+\. /m);
  const found = count(page.text);
  let common = 0;
  for (const [word, times] of published) common += Math.min(times, found.get(word) ?? 0);
  const sum = (counts: Map<string, number>) => [...counts.values()].reduce((total, times) => total + times, 0);
  t.diagnostic(`recall ${(common / sum(published)).toFixed(4)}, precision ${(common / sum(found)).toFixed(4)}`);
  assert.ok(common / sum(published) >= 0.99 && common / sum(found) >= 0.98);
});
