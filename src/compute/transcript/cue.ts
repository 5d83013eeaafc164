/** A transcript as a list of cues, and helpers of the format readers. */

export interface Cue {
  /** Seconds from the start; null if unknown. */
  startS: number | null;
  endS: number | null;
  speaker: string | null;
  /** Plain text on one line, not empty. */
  text: string;
}

const maxSpeakerLength = 100;
/** Max plausible time, seconds. */
export const maxTimeS = 1e8;
/** `1:02:03.5`, `62:03,5` or `3723.5`, with a limited number of digits. */
const clock = /^(?:(?:(\d{1,4}):)?(\d{1,4}):)?(\d{1,7})(?:[.,](\d{1,9}))?$/;

/** Hours and minutes are optional; null if invalid. */
export function readClock(text: string): number | null {
  const match = clock.exec(text.trim().slice(0, 40));
  if (match === null) return null;
  const [, hours = '0', minutes = '0', seconds, fraction = '0'] = match;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(`${seconds}.${fraction}`);
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

export function speakerName(text: string): string | null {
  const name = oneLine(text.slice(0, 4 * maxSpeakerLength)).replace(/\s?:$/, '');
  return name.slice(0, maxSpeakerLength) || null;
}

/** Sorts by time. Cues without a time follow their predecessor. */
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
