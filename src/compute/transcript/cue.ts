/** A transcript as a list of cues, whatever format it came in, and what the readers of the formats share. */

/** What is said in one stretch of a recording. */
export interface Cue {
  /** Seconds into the recording; null where the transcript does not say. */
  startS: number | null;
  endS: number | null;
  speaker: string | null;
  /** Plain text on one line, never empty. */
  text: string;
}

const maxSpeakerLength = 100;
/** Longest that a transcript may say to go on, in seconds; what lies behind is no time. */
export const maxTimeS = 1e8;
/** `1:02:03.5`, `62:03,5` or `3723.5`; more than any clock time is long. */
const clock = /^(?:(?:(\d{1,4}):)?(\d{1,4}):)?(\d{1,7})(?:[.,](\d{1,9}))?$/;

/** Seconds of a clock time, hours and minutes optional; null for what is none. */
export function readClock(text: string): number | null {
  const match = clock.exec(text.trim().slice(0, 40));
  if (match === null) return null;
  const [, hours = '0', minutes = '0', seconds, fraction = '0'] = match;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(`${seconds}.${fraction}`);
}

/** White space of any kind and length is one space. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Who speaks, as it is kept; null for nobody. */
export function speakerName(text: string): string | null {
  const name = oneLine(text.slice(0, 4 * maxSpeakerLength)).replace(/\s?:$/, '');
  return name.slice(0, maxSpeakerLength) || null;
}

/** In order of time; cues without one stay behind those that they follow. */
export function inOrder(cues: readonly Cue[]): Cue[] {
  let last = 0;
  return cues
    .map((cue) => {
      last = cue.startS ?? last;
      return { cue, at: last };
    })
    .sort((a, b) => a.at - b.at)
    .map(({ cue }) => cue);
}
