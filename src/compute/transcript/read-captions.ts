/**
 * Reads WebVTT and SubRip (SRT), in the forms in which they are really written: any line ends, hours left out, comma or dot, blank
 * lines missing or too many, cue settings, markup. Both are lists of lines with a time line before the words of each cue, so one
 * reader takes both (docs/decisions/own-transcript-readers.md), and what recognizers print: `[00:01.000 --> 00:02.000]  words`.
 *
 * Automatic captions roll: each cue repeats the lines of the one before, or its words so far. What is repeated is left out where the
 * two cues touch.
 */
import { decodeHTMLStrict } from 'entities';
import { type Cue, inOrder, oneLine, readClock, speakerName } from './cue.ts';

interface TimedLines {
  startS: number;
  endS: number;
  lines: string[];
}

/** Longest time line, in characters: two times and the settings of a cue. */
const maxTimeLine = 400;
const arrow = '-->';
/** Cues this far apart, in seconds, still touch; so do those that overlap, up to a length that a cue may have. */
const touchingS = 0.1;
const overlapS = 10;
/** Lines of a cue that are looked for in the one before: no screen shows more. */
const maxRolledLines = 8;
/** `<v Name>`, `<v.loud Name>`: WebVTT's voices. */
const voice = /<v(?:\.[^\s<>]{0,100})?\s([^<>]{1,200})>/i;
/** Tags of WebVTT and SRT, times inside a line, and the overrides of other subtitle formats. A `<` before a space is a sign. */
const markup = /<\/?[a-z\d][^<>]{0,300}>|<\/?[a-z]>|\{\\[^{}]{0,200}\}/gi;

/** Errors: none; what is no captions file gives no cues. */
export function readCaptions(text: string): Cue[] {
  return inOrder(unrolled(timedLinesOf(text)));
}

/** Whether a text begins like one. */
export function looksLikeCaptions(text: string): boolean {
  const start = text.slice(0, 4000);
  return /^\ufeff?WEBVTT(?:\s|$)/.test(start) || start.split(/\r\n?|\n/).some((line) => timesOf(line) !== null);
}

function timedLinesOf(text: string): TimedLines[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n?|\n/);
  const isVtt = lines[0].startsWith('WEBVTT');
  const found: TimedLines[] = [];
  /** Lines since the last blank one, where they belong to no cue yet: an identifier, a comment, or words behind a blank line. */
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
    // A line of spaces is part of a WebVTT cue, and ends one of SRT.
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

/** The line before a time line is the number of its cue, unless it is one of the first `words` lines, which are said. */
function dropNumber(lines: string[], words: number): void {
  if (lines.length > words && /^\s*\d{1,9}\s*$/.test(lines.at(-1) ?? '')) lines.pop();
}

interface TimeLine {
  startS: number;
  endS: number;
  /** What follows on the same line. */
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

/** Who says what in a cue; lines are clean and not empty. */
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

/**
 * The words of `lines` that the cue before has not shown. A line that is left out equals one that was just shown, so no word is
 * lost that is not there already.
 */
function freshWords(shown: readonly string[], lines: readonly string[]): string {
  for (let count = Math.min(shown.length, lines.length, maxRolledLines); count > 0; count--) {
    const isRepeated = lines.slice(0, count).every((line, i) => line === shown[shown.length - count + i]);
    if (isRepeated) return lines.slice(count).join(' ');
  }
  const text = lines.join(' ');
  const grown = [shown.join(' '), shown.at(-1) ?? ''].find((before) => before !== '' && text.startsWith(`${before} `));
  return grown === undefined ? text : text.slice(grown.length + 1);
}
