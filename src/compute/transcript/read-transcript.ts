/** Reads transcripts in all formats of the podcast namespace, on a thread: an hour of captions takes tens of milliseconds. */
import { decodeHTMLStrict } from 'entities';
import { Parser } from 'htmlparser2';
import { ownField, parsedJson } from '../structures/json-fields.ts';
import { type Cue, inOrder, maxTimeS, oneLine, readClock, speakerName } from './cue.ts';
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

/** By content type, otherwise by file extension; null if unknown. */
export function transcriptFormat(type: string, url: string): TranscriptFormat | null {
  const plain = type.split(';', 1)[0].trim().toLowerCase();
  const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(url.slice(-2000))?.[1].toLowerCase() ?? '';
  const [byType, byEnding] = [formatsByType.get(plain), formatsByEnding.get(ending)];
  // Servers declare unknown types as plain text.
  return (byType === 'text' ? (byEnding ?? byType) : (byType ?? byEnding)) ?? null;
}

/** The content takes precedence over the declared type, which is unreliable. Errors: none; empty if unreadable. */
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

/** Deeper elements are skipped, because the parser takes quadratic time in the depth. */
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

/* JSON of the podcast namespace, of transcription endpoints, and of whisper.cpp, whose `offsets` are in ms. */

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

/** Some files write numbers as strings. */
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

interface TimedLines {
  startS: number;
  endS: number;
  lines: string[];
}

/** Max characters of a time line: two times and settings. */
const maxTimeLine = 400;
const arrow = '-->';
/** Max gap between touching cues, seconds. Overlapping ones also touch, up to a maximum length. */
const touchingS = 0.1;
const overlapS = 10;
/** Max lines compared with the previous cue; no screen shows more. */
const maxRolledLines = 8;
/** `<v Name>`, `<v.loud Name>`: WebVTT's voices. */
const voice = /<v(?:\.[^\s<>]{0,100})?\s([^<>]{1,200})>/i;
/** Tags of WebVTT and SRT, inline times, overrides of other formats. A `<` before a space is text. */
const markup = /<\/?[a-z\d][^<>]{0,300}>|<\/?[a-z]>|\{\\[^{}]{0,200}\}/gi;

/**
 * Reads WebVTT, SubRip and recognizers' output (`[00:01.000 --> 00:02.000]  words`): all are lists of lines with time lines
 * (docs/decisions/own-transcript-readers.md). Automatic captions roll: each cue repeats lines of the previous one, which are dropped if
 * the cues touch. Errors: none; empty for other files.
 */
export function readCaptions(text: string): Cue[] {
  return inOrder(unrolled(timedLinesOf(text)));
}

function looksLikeCaptions(text: string): boolean {
  const start = text.slice(0, 4000);
  return /^\ufeff?WEBVTT(?:\s|$)/.test(start) || start.split(/\r\n?|\n/).some((line) => timesOf(line) !== null);
}

function timedLinesOf(text: string): TimedLines[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n?|\n/);
  const isVtt = lines[0].startsWith('WEBVTT');
  const found: TimedLines[] = [];
  /** Lines since the last blank one, outside of cues: an identifier, a comment, or words after a blank line. */
  let loose: string[] = [];
  let open: TimedLines | null = null;
  const settle = () => {
    const last = found.at(-1);
    if (!isVtt && last !== undefined) for (const line of loose) last.lines.push(line);
    loose = [];
    open = null;
  };
  for (const line of lines) {
    const times = timesOf(line);
    // A line of spaces continues a cue in WebVTT but ends it in SRT.
    const isBlank = isVtt ? line === '' : line.trim() === '';
    if (times !== null) {
      dropNumber(open?.lines ?? loose, open === null ? 0 : 1);
      settle();
      open = { startS: times.startS, endS: times.endS, lines: times.said === '' ? [] : [times.said] };
      found.push(open);
    } else if (isBlank) settle();
    else if (open !== null) open.lines.push(line);
    else loose.push(line);
  }
  settle();
  return found;
}

/** Drop a cue number before a time line, unless it is among the first `words` lines, which are text. */
function dropNumber(lines: string[], words: number): void {
  if (lines.length > words && /^\s*\d{1,9}\s*$/.test(lines.at(-1) ?? '')) lines.pop();
}

interface TimeLine {
  startS: number;
  endS: number;
  said: string;
}

function timesOf(line: string): TimeLine | null {
  const bracket = line.startsWith('[') ? line.slice(0, maxTimeLine).indexOf(']') : -1;
  const times = bracket < 0 ? line : line.slice(1, bracket);
  const at = times.length > maxTimeLine ? -1 : times.indexOf(arrow);
  if (at < 0 || !times.slice(0, at).includes(':')) return null;
  const startS = readClock(times.slice(0, at));
  const endS = readClock(
    times
      .slice(at + arrow.length)
      .trimStart()
      .split(/\s/, 1)[0],
  );
  if (startS === null || endS === null) return null;
  return { startS, endS: Math.max(startS, endS), said: bracket < 0 ? '' : line.slice(bracket + 1).trim() };
}

function unrolled(timed: readonly TimedLines[]): Cue[] {
  const cues: Cue[] = [];
  let shown: { lines: string[]; endS: number } = { lines: [], endS: 0 };
  for (const { startS, endS, lines } of timed) {
    const parts = voicesOf(lines);
    const [first] = parts;
    const isTouching = startS <= shown.endS + touchingS && startS >= shown.endS - overlapS;
    for (const [i, { speaker, lines: said }] of parts.entries()) {
      const text = i === 0 && isTouching ? freshWords(shown.lines, said) : said.join(' ');
      if (text !== '') cues.push({ startS, endS, speaker, text });
    }
    if (first !== undefined) shown = { lines: parts.at(-1)?.lines ?? [], endS };
  }
  return cues;
}

/** `lines`: clean, not empty. */
function voicesOf(lines: readonly string[]): { speaker: string | null; lines: string[] }[] {
  const [before, ...spoken] = lines.join('\n').split(voice);
  const parts = [{ speaker: null as string | null, lines: cleanLines(before) }];
  for (let i = 0; i < spoken.length; i += 2) {
    parts.push({ speaker: speakerName(decodeHTMLStrict(spoken[i])), lines: cleanLines(spoken[i + 1]) });
  }
  return parts.filter((part) => part.lines.length > 0);
}

function cleanLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => oneLine(decodeHTMLStrict(line.replace(markup, ''))))
    .filter((line) => line !== '');
}

/** Words of `lines` that the previous cue has not shown. Only lines just shown are dropped, so no word is lost. */
function freshWords(shown: readonly string[], lines: readonly string[]): string {
  for (let count = Math.min(shown.length, lines.length, maxRolledLines); count > 0; count--) {
    const isRepeated = lines.slice(0, count).every((line, i) => line === shown[shown.length - count + i]);
    if (isRepeated) return lines.slice(count).join(' ');
  }
  const text = lines.join(' ');
  const grown = [shown.join(' '), shown.at(-1) ?? ''].find((before) => before !== '' && text.startsWith(`${before} `));
  return grown === undefined ? text : text.slice(grown.length + 1);
}
