/**
 * Reads transcripts in JSON: that of the podcast namespace (`segments` of `startTime`, `endTime`, `speaker`, `body`), the answer of
 * transcription endpoints (`segments` of `start`, `end`, `text`; or `text` alone), and what whisper.cpp writes (`transcription` of
 * `offsets` in milliseconds and `text`).
 */
import { ownField, parsedJson } from '../structures/json-fields.ts';
import { type Cue, inOrder, maxTimeS, oneLine, speakerName } from './cue.ts';

/** Errors: none; what is no transcript gives no cues. */
export function readJsonTranscript(text: string): Cue[] {
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
