/**
 * Transcribes recordings by the command of the settings, else by their endpoint; chosen once, at startup. A command that cannot be used
 * is not replaced by the endpoint.
 *
 * Long recordings are decoded and recognized in pieces of five minutes, cut where it is quiet, which bounds memory and temporary files
 * and lets the caller report progress. One recording at a time: recognizers use every core they get.
 */
import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Cue } from '../compute/transcript/cue.ts';
import type { FoundTranscription } from '../domain/admin.ts';
import { bytesPerSecond, type Decoder, decodeAudio, quietestCut, waveFile } from './decode-audio.ts';
import { FetchError } from './fetch-error.ts';
import { commandRecognizer, commandWords, type Recognizer } from './recognizer.ts';
import { findProgram } from './run-program.ts';

export interface TranscriptionSettings {
  /** Folders of programs, as in PATH. */
  program_path: string;
  transcribe: { command: string | null; base_url: string | null };
  fetch: { video_speech_model: string };
}

export interface Transcription {
  found: FoundTranscription;
  /**
   * What is said in a recording, in order.
   * Errors: FetchError, ProviderError, BreakerOpenError; the signal's reason.
   */
  transcribe(recording: Recording, signal: AbortSignal): Promise<Cue[]>;
}

export interface Recording {
  path: string;
  dir: string;
  /** Called after each piece; what it throws ends the work. */
  goOn: () => Promise<void>;
}

const pieceS = 300;
/** Longest recording, in seconds: 250 MB of the thinnest sound are days. */
const maxRecordingS = 24 * 3600;
/** A piece this much shorter, in seconds, is not the last: decoders round. */
const slackS = 1;
/** A rest this short, in seconds, contains no word. */
const leastS = 0.2;

/** What can be used, from settings and installed programs. Runs nothing. */
export function findTranscription(settings: TranscriptionSettings): FoundTranscription {
  const { command, base_url } = settings.transcribe;
  const ffmpeg = findProgram('ffmpeg', settings.program_path) !== null;
  const none = (detail: string): FoundTranscription => ({ kind: null, detail, ffmpeg });
  if (command !== null) {
    const [name] = commandWords(command) ?? [];
    if (name === undefined) return none('transcribe.command is no command: a quote is not closed, or it is empty');
    const program = findProgram(name, settings.program_path);
    if (program === null) return none(`the program of transcribe.command, ${basename(name)}, is not there`);
    return { kind: 'command', detail: program, ffmpeg };
  }
  if (base_url !== null) return { kind: 'endpoint', detail: base_url, ffmpeg };
  return none('no speech recognizer: set transcribe.command or transcribe.base_url');
}

/** `endpoint`: that of the settings, where they have one. */
export function openTranscription(settings: TranscriptionSettings, endpoint: Recognizer | null): Transcription {
  const found = findTranscription(settings);
  const env = { PATH: settings.program_path, LANG: 'C.UTF-8' };
  const ffmpeg = findProgram('ffmpeg', settings.program_path);
  const decoder = ffmpeg === null ? null : { program: ffmpeg, env };
  const [, ...args] = commandWords(settings.transcribe.command ?? '') ?? [];
  const command = { program: found.detail, args, model: settings.fetch.video_speech_model, env };
  const recognizer =
    found.kind === 'command' ? commandRecognizer(command) : found.kind === 'endpoint' ? endpoint : null;
  return {
    found,
    async transcribe(recording, signal) {
      if (recognizer === null) throw new FetchError('unsupported_content', found.detail);
      if (decoder !== null) return inPieces(decoder, recognizer, recording, signal);
      return recognizer.recognize({ ...recording, lengthS: null }, signal);
    },
  };
}

async function inPieces(
  decoder: Decoder,
  recognizer: Recognizer,
  { path, dir, goOn }: Recording,
  signal: AbortSignal,
): Promise<Cue[]> {
  const cues: Cue[] = [];
  const piece = join(dir, 'piece.wav');
  for (let fromS = 0; ; ) {
    if (fromS > maxRecordingS) {
      throw new FetchError('too_large', `the recording is longer than ${maxRecordingS / 3600} hours`);
    }
    const samples = await decodeAudio(decoder, { path, dir }, { fromS, lengthS: pieceS }, signal);
    const isLast = samples.length < (pieceS - slackS) * bytesPerSecond;
    const bytes = isLast ? samples.length : quietestCut(samples);
    const lengthS = bytes / bytesPerSecond;
    if (lengthS >= leastS) {
      await writeFile(piece, waveFile(samples.subarray(0, bytes)), { mode: 0o600 });
      for (const cue of await recognizer.recognize({ path: piece, dir, lengthS }, signal)) cues.push(later(cue, fromS));
      await rm(piece, { force: true });
    }
    if (isLast) return cues;
    fromS += lengthS;
    await goOn();
  }
}

function later(cue: Cue, byS: number): Cue {
  const moved = (at: number | null) => (at === null ? null : at + byS);
  return { ...cue, startS: moved(cue.startS), endS: moved(cue.endS) };
}
