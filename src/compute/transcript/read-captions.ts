/**
 * Reads WebVTT, SubRip (SRT) and recognizers' output (`[00:01.000 --> 00:02.000]  words`) with one reader, as all are lists of lines
 * with time lines (docs/decisions/own-transcript-readers.md). Tolerates any line ends, missing hours, comma or dot, missing or extra
 * blank lines, settings, markup.
 *
 * Automatic captions roll: each cue repeats lines of the previous one. Repetitions are dropped if the cues touch.
 */
import { decodeHTMLStrict } from 'entities';
import { type Cue, inOrder, oneLine, readClock, speakerName } from './cue.ts';

interface TimedLines {
  startS: number;
  endS: number;
  lines: string[];
}

/** In characters: two times and settings. */
const maxTimeLine = 400;
const arrow = '-->';
/** Maximum gap of touching cues, in seconds; overlapping ones also touch, up to a maximum length. */
const touchingS = 0.1;
const overlapS = 10;
/** Lines compared with the previous cue: no screen shows more. */
const maxRolledLines = 8;
/** `<v Name>`, `<v.loud Name>`: WebVTT's voices. */
const voice = /<v(?:\.[^\s<>]{0,100})?\s([^<>]{1,200})>/i;
/** Tags of WebVTT and SRT, inline times, overrides of other formats. A `<` before a space is text. */
const markup = /<\/?[a-z\d][^<>]{0,300}>|<\/?[a-z]>|\{\\[^{}]{0,200}\}/gi;

/** Errors: none; empty for other files. */
export function readCaptions(text: string): Cue[] {
  return inOrder(unrolled(timedLinesOf(text)));
}

export function looksLikeCaptions(text: string): boolean {
  const start = text.slice(0, 4000);
  return /^\ufeff?WEBVTT(?:\s|$)/.test(start) || start.split(/\r\n?|\n/).some((line) => timesOf(line) !== null);
}

function timedLinesOf(text: string): TimedLines[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n?|\n/);
  const isVtt = lines[0].startsWith('WEBVTT');
  const found: TimedLines[] = [];
  /** Lines since the last blank one outside of cues: an identifier, a comment, or words after a blank line. */
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
    // A line of spaces continues a WebVTT cue but ends one of SRT.
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

/** Words of `lines` that the previous cue has not shown. Dropped lines equal ones just shown, so no word is lost. */
function freshWords(shown: readonly string[], lines: readonly string[]): string {
  for (let count = Math.min(shown.length, lines.length, maxRolledLines); count > 0; count--) {
    const isRepeated = lines.slice(0, count).every((line, i) => line === shown[shown.length - count + i]);
    if (isRepeated) return lines.slice(count).join(' ');
  }
  const text = lines.join(' ');
  const grown = [shown.join(' '), shown.at(-1) ?? ''].find((before) => before !== '' && text.startsWith(`${before} `));
  return grown === undefined ? text : text.slice(grown.length + 1);
}
