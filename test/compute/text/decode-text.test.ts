/** Encodings as pages have them: said, unsaid, and said wrongly. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readFeed } from '../../../src/compute/feed/read-feed.ts';
import { decodeText, EncodingGuess } from '../../../src/compute/text/decode-text.ts';
import { openSource } from '../../../src/importers/open-source.ts';
import { readFetched, readPublishedTranscript } from '../../../src/threads/extract-thread.ts';
import { readCaptions } from '../../../src/threads/media-thread.ts';
import { temporaryFolder } from '../../scope.ts';
import { encodeText } from './encode-text.ts';

const texts: Record<string, string> = {
  'windows-1251': 'Утром над рекой поднялся туман, и рыбаки вышли на берег. Они говорили о погоде и о старых временах.',
  'koi8-r': 'Утром над рекой поднялся туман, и рыбаки вышли на берег. Они говорили о погоде и о старых временах.',
  shift_jis: '朝の川には霧が立ちこめていた。漁師たちは岸に出て、天気と昔のことについて話していた。',
  'euc-jp': '朝の川には霧が立ちこめていた。漁師たちは岸に出て、天気と昔のことについて話していた。',
  gb18030: '早晨，河上起了雾，渔民们来到岸边。他们谈论天气和过去的时光，然后开始工作。',
  big5: '早晨，河上起了霧，漁民們來到岸邊。他們談論天氣和過去的時光，然後開始工作。',
  'euc-kr': '아침에 강 위로 안개가 피어올랐고 어부들은 강가로 나왔다. 그들은 날씨와 옛날 이야기를 했다.',
  'windows-1252':
    'Am Morgen lag Nebel über dem Fluß, und die Fischer gingen ans Ufer. „Schönes Wetter“, sagten sie – für 5 €.',
  'iso-8859-2':
    'Rano nad rzeką unosiła się mgła, a rybacy wyszli na brzeg. Mówili o pogodzie i o dawnych czasach, źle czy dobrze.',
  'iso-8859-7': 'Το πρωί πάνω από το ποτάμι υπήρχε ομίχλη και οι ψαράδες βγήκαν στην όχθη για να μιλήσουν.',
  'utf-16le': 'Утром над рекой поднялся туман.',
  'utf-16be': 'Am Morgen lag Nebel über dem Fluß.',
};

const html = (text: string, charset: string) =>
  `<!doctype html><html><head><title>A page</title><meta http-equiv="Content-Type" content="text/html; charset=${charset}"></head><body><p>${text}</p></body></html>`;

test('a page is read in the encoding that its header names', () => {
  for (const [encoding, text] of Object.entries(texts)) {
    const read = decodeText(encodeText(html(text, 'x-none'), encoding), ` ${encoding.toUpperCase()} `, true);
    assert.deepEqual(read, { text: html(text, 'x-none'), encoding });
  }
});

test('a page is read in the encoding that it names itself', () => {
  for (const [encoding, text] of Object.entries(texts)) {
    const read = decodeText(encodeText(html(text, encoding), encoding), null, true);
    assert.deepEqual(read, { text: html(text, encoding), encoding });
  }
});

test('a text that names no encoding is read by what it looks like', () => {
  for (const [encoding, text] of Object.entries(texts)) {
    if (encoding.startsWith('utf-16')) continue; // without spaces or markup there is little to tell it by
    assert.equal(decodeText(encodeText(text, encoding), null, false).text, text, encoding);
  }
});

test('a byte order mark is right, whatever is said', () => {
  for (const [encoding, mark] of [
    ['utf-16le', [0xff, 0xfe]],
    ['utf-16be', [0xfe, 0xff]],
  ] as const) {
    const bytes = Uint8Array.from([...mark, ...encodeText('Fluß', encoding)]);
    assert.deepEqual(decodeText(bytes, 'shift_jis', true), { text: 'Fluß', encoding });
  }
  const utf8 = Uint8Array.from([0xef, 0xbb, 0xbf, ...Buffer.from('Fluß')]);
  assert.deepEqual(decodeText(utf8, 'windows-1251', true), { text: 'Fluß', encoding: 'utf-8' });
});

test('UTF-8 that is called something else is UTF-8, and what is called UTF-8 and is not, is not', () => {
  const russian = texts['windows-1251'];
  assert.ok(russian !== undefined);
  const utf8 = Buffer.from(html(russian, 'utf-8'));
  assert.equal(decodeText(utf8, 'iso-8859-1', true).text, html(russian, 'utf-8'));
  const bytes = encodeText(html(russian, 'windows-1251'), 'windows-1251');
  assert.equal(decodeText(bytes, 'utf-8', true).text, html(russian, 'windows-1251'));
  const decoded = decodeText(encodeText(html(russian, 'utf-8'), 'windows-1251'), 'utf-8', true).text;
  assert.equal(decoded, html(russian, 'utf-8'));
});

test('a few broken bytes do not make UTF-8 another encoding', () => {
  const text = 'Утром над рекой поднялся туман. '.repeat(10);
  const broken = Buffer.concat([Buffer.from(text), Buffer.from([0xd0]), Buffer.from(` ${text}`)]);
  for (const charset of ['utf-8', 'UTF8']) {
    assert.deepEqual(decodeText(broken, charset, false), { text: `${text}\ufffd ${text}`, encoding: 'utf-8' });
  }
});

test('unknown names are taken no notice of, and nothing is an empty text', () => {
  assert.equal(decodeText(Buffer.from('Fluß'), 'x-user-defined', false).text, 'Fluß');
  assert.equal(decodeText(Buffer.from('plain'), 'nonsense', true).text, 'plain');
  assert.equal(decodeText(new Uint8Array(), null, true).text, '');
  assert.equal(decodeText(Uint8Array.from([0xff]), null, true).text, 'ÿ');
});

test('ISO-2022-JP, whose bytes are ASCII, is read where it is named', () => {
  const bytes = Uint8Array.from([0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x42]);
  assert.equal(decodeText(bytes, 'iso-2022-jp', false).text, 'あ');
});

test('a header that says Latin-1 of bytes that are none gives way to what the document says', () => {
  const text = html(texts.shift_jis ?? '', 'shift_jis');
  const read = decodeText(encodeText(text, 'shift_jis'), 'iso-8859-1', true);
  assert.deepEqual(read, { text, encoding: 'shift_jis' });
  const western = html(texts['windows-1252'] ?? '', 'shift_jis');
  assert.equal(decodeText(encodeText(western, 'windows-1252'), 'iso-8859-1', true).text, western);
});

/** All that Windows-1252 has where ISO-8859-1 has control characters, from 0x80 on; five places have nothing. */
const upper = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
const upperBytes = Buffer.from(
  Array.from({ length: 32 }, (_, at) => 0x80 + at).filter((byte) => ![0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte)),
);
const around = (before: string, after: string) =>
  Buffer.concat([Buffer.from(before, 'latin1'), upperBytes, Buffer.from(after, 'latin1')]);

test('euro sign, quotation marks and dashes of windows-1252 come through, as a page, a feed, captions, a transcript and an import', async (t) => {
  for (const charset of ['windows-1252', 'iso-8859-1', 'latin1', 'us-ascii', null]) {
    const words = 'Am Morgen lag Nebel \xfcber dem Flu\xdf, und die Fischer gingen ans Ufer.';
    const page = readFetched({ kind: 'plain', bytes: around(`${words} `, ''), charset });
    assert.ok('page' in page && page.page.text.endsWith(upper), `page, ${charset}`);
    const bytes = around(`<rss><channel><item><link>https://a.test/</link><title>`, '</title></item></channel></rss>');
    const feed = readFeed({ bytes, charset, url: 'https://a.test/feed' });
    assert.deepEqual(feed.kind === 'feed' && feed.items.map(({ title }) => title), [upper], `feed, ${charset}`);
    const file = { bytes: around('WEBVTT\n\n00:01.000 --> 00:02.000\n', '\n'), charset, chapters: [] };
    assert.equal(readCaptions(file).text, upper, `captions, ${charset}`);
    assert.equal(readPublishedTranscript({ ...file, called: 'captions' }).text, upper, `transcript, ${charset}`);
    const path = join(temporaryFolder(t), 'bookmarks.html');
    const meta = charset === null ? '' : `<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=${charset}">`;
    writeFileSync(
      path,
      around(`<!DOCTYPE NETSCAPE-Bookmark-file-1>${meta}<DL><DT><A HREF="https://a.test/">`, '</A></DL>'),
    );
    const titles: (string | null)[] = [];
    for await (const { title } of (await openSource(path, null)).items()) titles.push(title);
    assert.deepEqual(titles, [upper], `import, ${charset}`);
  }
});

test('a document in pieces is told as a whole one is, wherever it is cut', () => {
  for (const [encoding, text] of Object.entries({ ...texts, 'utf-8': `${texts.gb18030}🎣` })) {
    const bytes = encoding === 'utf-8' ? Buffer.from(text) : encodeText(text, encoding);
    for (const pieceBytes of [1, 2, 3, 5, 64]) {
      const guess = new EncodingGuess(encoding, false);
      for (let at = 0; at < bytes.length; at += pieceBytes) guess.add(bytes.subarray(at, at + pieceBytes));
      assert.equal(guess.encoding(), decodeText(bytes, encoding, false).encoding, `${encoding} by ${pieceBytes}`);
    }
  }
});

test('UTF-8 that nobody declared and that ends within a character is UTF-8', () => {
  for (const text of ['日本語', 'Grüße aus Köln ü', 'Утром над рекой']) {
    const bytes = Buffer.from(text);
    const read = decodeText(bytes.subarray(0, bytes.length - 1), null, false);
    assert.deepEqual(read, { text: `${text.slice(0, -1)}\ufffd`, encoding: 'utf-8' });
  }
});

test('a few letters of the West are not taken for an encoding of Asia', () => {
  for (const text of ['Größe', 'Ångström', 'Café', 'smörgåsbord']) {
    assert.deepEqual(decodeText(Buffer.from(text, 'latin1'), null, false), { text, encoding: 'windows-1252' });
  }
});
