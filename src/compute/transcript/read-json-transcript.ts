/**
 * Reads transcripts in JSON: that of the podcast namespace (`segments` of `startTime`, `endTime`, `speaker`, `body`), the answer of
 * transcription endpoints (`segments` of `start`, `end`, `text`; or `text` alone), and what whisper.cpp writes (`transcription` of
 * `offsets` in milliseconds and `text`).
 */
import { type Cue, inOrder, maxTimeS, oneLine, speakerName } from './cue.ts';

type Json = Readonly<Record<string, unknown>>;

/** Errors: none; what is no transcript gives no cues. */
export function readJsonTranscript(text: string): Cue[] {
  const document = parsed(text.replace(/^\ufeff/, ''));
  const segments = [document, own(document, 'segments'), own(document, 'transcription')].find(Array.isArray);
  const cues = (segments ?? []).flatMap(cueOf);
  if (cues.length > 0) return inOrder(cues);
  const whole = own(document, 'text');
  return typeof whole === 'string' ? cueOf({ text: whole }) : [];
}

function cueOf(segment: unknown): Cue[] {
  const said = own(segment, 'body') ?? own(segment, 'text');
  const text = typeof said === 'string' ? oneLine(said) : '';
  if (text === '') return [];
  const offsets = own(segment, 'offsets');
  const startS = seconds(own(segment, 'startTime') ?? own(segment, 'start')) ?? thousandths(own(offsets, 'from'));
  const endS = seconds(own(segment, 'endTime') ?? own(segment, 'end')) ?? thousandths(own(offsets, 'to'));
  const speaker = own(segment, 'speaker');
  return [
    {
      startS,
      endS: startS === null || endS === null ? endS : Math.max(startS, endS),
      speaker: typeof speaker === 'string' ? speakerName(speaker) : null,
      text,
    },
  ];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The only reason is that it is no JSON.
    return null;
  }
}

function own(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Json)[key] : undefined;
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
