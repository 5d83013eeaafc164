/** Reads transcripts in all formats of the podcast namespace, on a thread: an hour of captions takes tens of milliseconds. */

import { Parser } from 'htmlparser2';
import { ownField, parsedJson } from '../structures/json-fields.ts';
import { type Cue, inOrder, maxTimeS, oneLine, readClock, speakerName } from './cue.ts';
import { looksLikeCaptions, readCaptions } from './read-captions.ts';
import type { Chapter } from './transcript-text.ts';

export type TranscriptFormat = 'captions' | 'json' | 'html' | 'text';

const formatsByType = new Map<string, TranscriptFormat>([
  ['text/vtt', 'captions'],
  ['application/srt', 'captions'],
  ['application/x-subrip', 'captions'],
  ['text/srt', 'captions'],
  ['application/json', 'json'],
  ['text/html', 'html'],
  ['text/plain', 'text'],
]);
const formatsByEnding = new Map<string, TranscriptFormat>([
  ['vtt', 'captions'],
  ['srt', 'captions'],
  ['json', 'json'],
  ['html', 'html'],
  ['htm', 'html'],
  ['txt', 'text'],
]);

/** By content type, or else file extension; null if unknown. */
export function transcriptFormat(type: string, url: string): TranscriptFormat | null {
  const plain = type.split(';', 1)[0].trim().toLowerCase();
  const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(url.slice(-2000))?.[1].toLowerCase() ?? '';
  const [byType, byEnding] = [formatsByType.get(plain), formatsByEnding.get(ending)];
  // Servers declare unknown types as plain text.
  return (byType === 'text' ? (byEnding ?? byType) : (byType ?? byEnding)) ?? null;
}

/** Content takes precedence over the declared type, which is unreliable. Errors: none; empty if unreadable. */
export function readTranscript(text: string, called: TranscriptFormat | null): Cue[] {
  switch (sniffed(text) ?? called ?? 'text') {
    case 'captions':
      return readCaptions(text);
    case 'json':
      return readJsonTranscript(text);
    case 'html':
      return readHtmlTranscript(text);
    case 'text':
      return readPlainTranscript(text);
  }
}

function sniffed(text: string): TranscriptFormat | null {
  if (looksLikeCaptions(text)) return 'captions';
  const start = text
    .slice(0, 1000)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (/^(?:\{\s*"|\[\s*\{)/.test(start)) return 'json';
  return /^<(?:!doctype|!--|html|head|body|cite|time|p|div)\b/i.test(start) ? 'html' : null;
}

function readPlainTranscript(text: string): Cue[] {
  return text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .split(/\n[^\S\n]*\n/)
    .map(oneLine)
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => ({ startS: null, endS: null, speaker: null, text: paragraph }));
}

/* HTML of the podcast namespace: `<cite>` is the speaker, `<time>` the start, each `<p>` or other block a cue. */

const blocks = new Set('p div li ul ol dl dd dt tr td blockquote section article h1 h2 h3 h4 h5 h6 br hr'.split(' '));
const silent = new Set(['script', 'style', 'title', 'template', 'noscript']);

/** Deeper elements are skipped: the parser is quadratic in them. */
const maxDepth = 512;
const sliceLength = 65_536;

/** Errors: none; empty without words. */
function readHtmlTranscript(html: string): Cue[] {
  const cues: Cue[] = [];
  let speaker: string | null = null;
  let startS: number | null = null;
  let said = '';
  let note: { of: 'cite' | 'time'; text: string } | null = null;
  let silentIn: string | null = null;
  let depth = 0;
  const flush = () => {
    const text = oneLine(said);
    said = '';
    if (text === '') return;
    cues.push({ startS, endS: null, speaker, text });
    startS = null;
  };
  const parser = new Parser(
    {
      onopentagname(name) {
        depth++;
        if (silent.has(name)) silentIn ??= name;
        if (name === 'cite' || name === 'time') {
          flush();
          note = { of: name, text: '' };
        } else if (blocks.has(name)) flush();
      },
      ontext(text) {
        if (silentIn !== null) return;
        if (note === null) said += text;
        else note.text += text;
      },
      onclosetag(name) {
        depth--;
        if (name === silentIn) silentIn = null;
        if (note !== null && name === note.of) {
          if (name === 'cite') speaker = speakerName(note.text);
          else startS = readClock(note.text.replace(/[[\]()]/g, ''));
          note = null;
        } else if (blocks.has(name)) flush();
      },
    },
    { decodeEntities: true },
  );
  const text = html.replace(/^\ufeff/, '');
  for (let from = 0; from < text.length && depth <= maxDepth; from += sliceLength)
    parser.write(text.slice(from, from + sliceLength));
  parser.end();
  flush();
  return inOrder(cues);
}

/*
 * JSON of the podcast namespace (`segments` of `startTime`, `endTime`, `speaker`, `body`), of transcription endpoints (`segments` of
 * `start`, `end`, `text`; or `text` alone), and of whisper.cpp (`transcription` of `offsets` in ms and `text`).
 */

/** Errors: none; empty for other JSON. */
function readJsonTranscript(text: string): Cue[] {
  const document = parsedJson(text);
  const segments = [document, ownField(document, 'segments'), ownField(document, 'transcription')].find(Array.isArray);
  const cues = (segments ?? []).flatMap(cueOf);
  if (cues.length > 0) return inOrder(cues);
  const whole = ownField(document, 'text');
  return typeof whole === 'string' ? cueOf({ text: whole }) : [];
}

function cueOf(segment: unknown): Cue[] {
  const said = ownField(segment, 'body') ?? ownField(segment, 'text');
  const text = typeof said === 'string' ? oneLine(said) : '';
  if (text === '') return [];
  const offsets = ownField(segment, 'offsets');
  const startS =
    seconds(ownField(segment, 'startTime') ?? ownField(segment, 'start')) ?? thousandths(ownField(offsets, 'from'));
  const endS =
    seconds(ownField(segment, 'endTime') ?? ownField(segment, 'end')) ?? thousandths(ownField(offsets, 'to'));
  const speaker = ownField(segment, 'speaker');
  return [
    {
      startS,
      endS: startS === null || endS === null ? endS : Math.max(startS, endS),
      speaker: typeof speaker === 'string' ? speakerName(speaker) : null,
      text,
    },
  ];
}

/** Some write numbers as texts. */
function seconds(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && number <= maxTimeS ? number : null;
}

function thousandths(value: unknown): number | null {
  const ms = seconds(value);
  return ms === null ? null : ms / 1000;
}

const maxChapters = 1000;
const maxTitleLength = 500;

/** Errors: none; empty for other JSON. Skips chapters with `toc` false. */
export function readChapters(text: string): Chapter[] {
  const listed: unknown = ownField(parsedJson(text), 'chapters');
  if (!Array.isArray(listed)) return [];
  return listed.slice(0, maxChapters).flatMap((chapter: unknown) => {
    const startS = ownField(chapter, 'startTime');
    if (typeof startS !== 'number' || !(startS >= 0 && startS <= maxTimeS) || ownField(chapter, 'toc') === false)
      return [];
    const title = ownField(chapter, 'title');
    return [
      {
        startS,
        title: typeof title === 'string' ? oneLine(title).slice(0, maxTitleLength).toWellFormed() || null : null,
      },
    ];
  });
}
