/** Reads a transcript of any format of the podcast namespace. Called on an extraction thread: an hour of captions takes tens of milliseconds. */
import { type Cue, oneLine } from './cue.ts';
import { looksLikeCaptions, readCaptions } from './read-captions.ts';
import { readHtmlTranscript } from './read-html-transcript.ts';
import { readJsonTranscript } from './read-json-transcript.ts';

/** `captions`: WebVTT or SRT. */
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

/** What a content type, or else the ending of an address, says; null where neither says anything. */
export function transcriptFormat(type: string, url: string): TranscriptFormat | null {
  const plain = type.split(';', 1)[0].trim().toLowerCase();
  const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(url.slice(-2000))?.[1].toLowerCase() ?? '';
  const [byType, byEnding] = [formatsByType.get(plain), formatsByEnding.get(ending)];
  // Servers call what they do not know a plain text.
  return (byType === 'text' ? (byEnding ?? byType) : (byType ?? byEnding)) ?? null;
}

/**
 * The cues of a transcript. What the text looks like goes before what it is called: servers know little of these types.
 * Errors: none; what cannot be read gives no cues.
 */
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

/** A cue for each paragraph. */
function readPlainTranscript(text: string): Cue[] {
  return text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .split(/\n[^\S\n]*\n/)
    .map(oneLine)
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => ({ startS: null, endS: null, speaker: null, text: paragraph }));
}
