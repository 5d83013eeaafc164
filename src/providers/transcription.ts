/**
 * The way in which this service writes down what is said in recordings, found once at its start: the command of the settings, else the
 * endpoint of the settings, else pocketsphinx where it is installed. What is set is not passed over: where it cannot be used, nothing
 * takes its place, and why is told.
 *
 * Long recordings are decoded and recognized in pieces of five minutes, cut where it is quiet, so that memory and temporary files are
 * bounded and whoever waits hears that it goes on. One recording at a time: recognizers take all the processor that they get.
 */
import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Cue } from '../compute/transcript/cue.ts';
import { bytesPerSecond, quietestCut, waveFile } from '../compute/transcript/wave.ts';
import type { FoundTranscription } from '../domain/capabilities.ts';
import { commandWords } from './command-line.ts';
import { commandRecognizer } from './command-recognizer.ts';
import { type Decoder, decodeAudio } from './decode-audio.ts';
import { FetchError } from './fetch-error.ts';
import { pocketSphinx } from './pocketsphinx.ts';
import type { Recognizer } from './recognizer.ts';
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
  /** A folder of its own. */
  dir: string;
  /** Called after each piece; what it throws ends the work. */
  goOn: () => Promise<void>;
}

/** Length of a piece, in seconds. */
const pieceS = 300;
/** Longest recording, in seconds: 250 MB of the thinnest sound are days. */
const maxRecordingS = 24 * 3600;
/** A piece this much shorter, in seconds, is not the last: decoders round. */
const slackS = 1;
/** A rest this short, in seconds, holds no word. */
const leastS = 0.2;

const howToTranscribe = 'set transcribe.command or transcribe.base_url, or install pocketsphinx and ffmpeg';

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
  const program = findProgram(pocketSphinxProgram, settings.program_path);
  if (program === null) return none(`nothing is there to transcribe with: ${howToTranscribe}`);
  if (!ffmpeg) return none('pocketsphinx is there, but not ffmpeg, which it needs');
  return { kind: 'pocketsphinx', detail: program, ffmpeg };
}

const pocketSphinxProgram = 'pocketsphinx_continuous';

/** `endpoint`: that of the settings, where they have one. */
export function openTranscription(settings: TranscriptionSettings, endpoint: Recognizer | null): Transcription {
  const found = findTranscription(settings);
  const env = { PATH: settings.program_path, LANG: 'C.UTF-8' };
  const ffmpeg = findProgram('ffmpeg', settings.program_path);
  const decoder = ffmpeg === null ? null : { program: ffmpeg, env };
  const recognizer = recognizerOf(found, settings, { env, endpoint });
  return {
    found,
    async transcribe(recording, signal) {
      if (recognizer === null) throw new FetchError('unsupported_content', found.detail);
      if (decoder !== null) return inPieces(decoder, recognizer, recording, signal);
      return recognizer.recognize({ ...recording, lengthS: null }, signal);
    },
  };
}

function recognizerOf(
  { kind, detail: program }: FoundTranscription,
  { transcribe, fetch }: TranscriptionSettings,
  { env, endpoint }: { env: Readonly<Record<string, string>>; endpoint: Recognizer | null },
): Recognizer | null {
  switch (kind) {
    case 'command': {
      const [, ...args] = commandWords(transcribe.command ?? '') ?? [];
      return commandRecognizer({ program, args, model: fetch.video_speech_model, env });
    }
    case 'endpoint':
      return endpoint;
    case 'pocketsphinx':
      return pocketSphinx({ program, env });
    case null:
      return null;
  }
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
