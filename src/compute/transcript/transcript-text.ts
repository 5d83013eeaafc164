/**
 * Makes a text with sections of a transcript's cues, in the shape that pages are stored and indexed in: chunks get the title and
 * the second at which their section begins. Sections are chapters, or windows of time, or both: a long chapter has several.
 */
import type { Section } from '../../domain/page.ts';
import type { Cue } from './cue.ts';

export interface Chapter {
  startS: number;
  title: string | null;
}

export interface TranscriptText {
  text: string;
  /** Ascending; none for a transcript without times. */
  sections: Section[];
}

/**
 * Length of a section, in seconds. People speak 120 to 180 words a minute, so two minutes are about 270 to 410 tokens: one chunk of
 * `chunking.target_tokens` (448), whose start is known to two minutes.
 */
const windowS = 120;
/** A section ends with a sentence, unless none ends for so long. */
const longestWindowS = 150;
/** Sections of one transcript, about; a longer one has longer windows. */
const maxSections = 2000;
/** A chapter begins with the cue nearest to it, not with the one after. */
const chapterToleranceS = 0.5;
/** A pause of so many seconds, or so many characters and the end of a sentence, makes a paragraph. */
const pauseS = 3;
const paragraphLength = 600;

const sentenceEnd = /[.!?…。！？]["'”’)\]]{0,3}$/;
/** Scripts written without spaces between words. */
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]$/u;

/** `chapters` in any order. A speaker's name stands before the first of what they say in a row: `Ada: …`. */
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
  // Without times a cue is a paragraph of its own already.
  return paused || cue.startS === null || (length >= paragraphLength && sentenceEnd.test(previous.text));
}

type Border = Pick<Section, 'title' | 'start_s'>;

/** Asked cue by cue, in order: what begins with it, or null. */
function sectionBorders(cues: readonly Cue[], chapters: readonly Chapter[]) {
  const titles = [...chapters].sort((a, b) => a.startS - b.startS).slice(0, maxSections);
  const times = cues.flatMap(({ startS }) => startS ?? []);
  // The last thousandth does not count: one cue with an absurd time would stretch the sections of all the others.
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
