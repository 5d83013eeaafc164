/** Builds a text with timed sections from cues: chapters, or windows of time. Long chapters have several sections. */
import type { Section } from '../../domain/page.ts';
import type { Cue } from './cue.ts';

export interface Chapter {
  startS: number;
  title: string | null;
}

export interface TranscriptText {
  text: string;
  /** Ascending; empty without times. */
  sections: Section[];
}

/** Seconds per section: 270 to 410 tokens at 120 to 180 words a minute, near `chunking.target_tokens` (448). */
const windowS = 120;
/** Max seconds of a section without a sentence end. */
const longestWindowS = 150;
/** Approximate maximum: longer transcripts have longer windows. */
const maxSections = 2000;
/** A chapter begins with the nearest cue, at most this much before it, seconds. */
const chapterToleranceS = 0.5;
/** A paragraph ends at a pause of this many seconds, or at a sentence end after this many characters. */
const pauseS = 3;
const paragraphLength = 600;

const sentenceEnd = /[.!?…。！？]["'”’)\]]{0,3}$/;
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]$/u;

/** `chapters` in any order. Before the first of a speaker's consecutive cues comes the name: `Ada: …`. */
export function transcriptText(cues: readonly Cue[], chapters: readonly Chapter[] = []): TranscriptText {
  const parts: string[] = [];
  let length = 0;
  const sections: Section[] = [];
  const sectionAt = sectionBorders(cues, chapters);
  let previous: Cue | undefined;
  let paragraphStart = 0;
  for (const cue of cues) {
    const isSection = sectionAt(cue, previous);
    const isTurn = cue.speaker !== (previous?.speaker ?? null);
    const isParagraph = isSection !== null || isTurn || endsParagraph(previous, cue, length - paragraphStart);
    const separator = previous === undefined ? '' : isParagraph ? '\n\n' : unspaced.test(previous.text) ? '' : ' ';
    const name = isTurn && cue.speaker !== null ? `${cue.speaker}: ` : '';
    if (isParagraph) paragraphStart = length + separator.length;
    if (isSection !== null) sections.push({ char_start: length + separator.length, ...isSection });
    const part = separator + name + cue.text;
    parts.push(part);
    length += part.length;
    previous = cue;
  }
  return { text: parts.join(''), sections };
}

function endsParagraph(previous: Cue | undefined, cue: Cue, length: number): boolean {
  if (previous === undefined) return true;
  const paused = cue.startS !== null && previous.endS !== null && cue.startS - previous.endS >= pauseS;
  // Without times each cue is a paragraph.
  return paused || cue.startS === null || (length >= paragraphLength && sentenceEnd.test(previous.text));
}

type Border = Pick<Section, 'title' | 'start_s'>;

/** Returns a function to call for each cue in order. It returns the section that begins, or null. */
function sectionBorders(cues: readonly Cue[], chapters: readonly Chapter[]) {
  const titles = [...chapters].sort((a, b) => a.startS - b.startS).slice(0, maxSections);
  const times = cues.flatMap(({ startS }) => startS ?? []);
  // Ignores the last thousandth, because one absurd time would stretch all sections.
  const lastS = times[Math.floor(0.999 * (times.length - 1))] ?? 0;
  const stretch = Math.max(1, lastS / windowS / maxSections);
  let next = 0;
  let startedS: number | null = null;
  return ({ startS }: Cue, previous: Cue | undefined): Border | null => {
    if (startS === null) return null;
    let isChapter = false;
    while (next < titles.length && titles[next].startS <= startS + chapterToleranceS) {
      next++;
      isChapter = true;
    }
    const lasted = startedS === null ? Number.POSITIVE_INFINITY : startS - startedS;
    const isComplete = previous === undefined || sentenceEnd.test(previous.text);
    if (!isChapter && lasted < (isComplete ? windowS : longestWindowS) * stretch) return null;
    startedS = startS;
    return { title: titles[next - 1]?.title ?? null, start_s: Math.round(startS * 1000) / 1000 };
  };
}
