/**
 * Transcribes recordings by the configured command or, without one, by the endpoint; chosen once, at startup. Long ones
 * are decoded and recognized in parts of five minutes, cut at quiet places, which limits memory and temporary files.
 * One at a time, because recognizers use every core.
 */
import { open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { Cue } from '../compute/transcript/cue.ts';
import { readTranscript, transcriptFormat } from '../compute/transcript/read-transcript.ts';
import type { FoundTranscription } from '../domain/admin.ts';
import { bytesPerSecond, type Decoder, decodeAudio, quietestCut, waveFile } from './decode-audio.ts';
import { FetchError } from './fetch-error.ts';
import { postBytes } from './http-json.ts';
import type { EndpointOptions } from './provider-settings.ts';
import { ProviderError } from './resilient-call.ts';
import { findProgram, ProgramError, runProgram } from './run-program.ts';

export interface TranscriptionSettings {
  /** Folders of programs, as in PATH. */
  program_path: string;
  transcribe: { command: string | null; base_url: string | null };
  fetch: { video_speech_model: string };
}

export type Transcription = ReturnType<typeof openTranscription>;

export interface Recording {
  path: string;
  dir: string;
  /** Called after each part. If it throws, the work ends. */
  extendTime: () => Promise<void>;
}

const pieceS = 300;
/** Max length of a recording, seconds: 250 MB of the most compressed sound are days. */
const maxRecordingS = 24 * 3600;
/** A part that is this much shorter, seconds, is not necessarily the last: decoders round. */
const slackS = 1;
/** A remainder this short, seconds, contains no word. */
const leastS = 0.2;

/** Finds usable recognizers, from settings and installed programs. Runs nothing. */
export function findTranscription(settings: TranscriptionSettings): FoundTranscription {
  const { command, base_url } = settings.transcribe;
  const ffmpeg = findProgram('ffmpeg', settings.program_path) !== null;
  const none = (detail: string): FoundTranscription => ({ kind: null, detail, ffmpeg });
  if (command !== null) {
    const [name] = commandWords(command) ?? [];
    if (name === undefined) return none('transcribe.command is not a command: a quote is not closed, or it is empty');
    const program = findProgram(name, settings.program_path);
    if (program === null) return none(`the program of transcribe.command, ${basename(name)}, was not found`);
    return { kind: 'command', detail: program, ffmpeg };
  }
  if (base_url !== null) return { kind: 'endpoint', detail: base_url, ffmpeg };
  return none('no speech recognizer: set transcribe.command or transcribe.base_url');
}

/** `endpoint`: the endpoint of the settings, if set. */
export function openTranscription(settings: TranscriptionSettings, endpoint: Recognizer | null) {
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
    /**
     * The words spoken in a recording, in order.
     * Errors: FetchError, ProviderError, BreakerOpenError; the signal's reason.
     */
    async transcribe(recording: Recording, signal: AbortSignal): Promise<Cue[]> {
      if (recognizer === null) throw new FetchError('unsupported_content', found.detail);
      if (decoder !== null) return inPieces(decoder, recognizer, recording, signal);
      return recognizer.recognize({ ...recording, lengthS: null }, signal);
    },
  };
}

async function inPieces(
  decoder: Decoder,
  recognizer: Recognizer,
  { path, dir, extendTime }: Recording,
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
    await extendTime();
  }
}

function later(cue: Cue, byS: number): Cue {
  const moved = (at: number | null) => (at === null ? null : at + byS);
  return { ...cue, startS: moved(cue.startS), endS: moved(cue.endS) };
}

export interface Sound {
  /** A WAVE file or, without a decoder, the original recording. */
  path: string;
  /** Its own folder, for temporary files. */
  dir: string;
  /** Length of this part in seconds; null if unknown. */
  lengthS: number | null;
}

export interface Recognizer {
  /**
   * Cues with times from the start of the sound; empty without speech.
   * Errors: FetchError, ProviderError, BreakerOpenError; the signal's reason.
   */
  recognize(sound: Sound, signal: AbortSignal): Promise<Cue[]>;
}

/** Splits a line into words; quotes group words. Null for an unclosed quote. */
export function commandWords(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (const character of line) {
    if (quote !== '') {
      if (character === quote) quote = '';
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + character;
  }
  if (quote !== '') return null;
  return word === null ? words : [...words, word];
}

/* A program such as whisper.cpp's `whisper-cli` writes a transcript next to a sound file, or to standard output. */

interface CommandRecognizer {
  /** Absolute. */
  program: string;
  /** Arguments with the placeholders `{audio}`, `{output}` and `{model}`. */
  args: readonly string[];
  model: string;
  env: Readonly<Record<string, string>>;
}

const maxTranscriptBytes = 16 * 1024 * 1024;
/** File extensions of transcripts, most detailed first. */
const endings = ['.json', '.vtt', '.srt', '.txt'];

function commandRecognizer({ program, args, model, env }: CommandRecognizer): Recognizer {
  return {
    async recognize({ path, dir }, signal) {
      const output = join(dir, 'transcript');
      const filled = args.map((word) =>
        word.replaceAll('{audio}', path).replaceAll('{output}', output).replaceAll('{model}', model),
      );
      const given = args.some((word) => word.includes('{audio}')) ? filled : [...filled, path];
      const before = new Set(await readdir(dir));
      try {
        const run = { program, args: given, env, cwd: dir, maxOutputBytes: maxTranscriptBytes, signal };
        const { output: said, ended } = await runProgram(run);
        if (ended !== 0) throw new FetchError('program_failed', `the transcription command ended with ${ended}`);
        const written = (await readdir(dir)).filter((name) => !before.has(name));
        return (await cuesIn(dir, written)) ?? readTranscript(Buffer.from(said).toString(), null);
      } catch (error) {
        if (!(error instanceof ProgramError)) throw error;
        throw new FetchError('program_failed', `the transcription command ${error.message}`, { cause: error });
      } finally {
        const after = (await readdir(dir)).filter((name) => !before.has(name));
        await Promise.all(after.map((name) => rm(join(dir, name), { recursive: true, force: true })));
      }
    },
  };
}

/** The cues of the most detailed transcript file; null without one. */
async function cuesIn(dir: string, names: readonly string[]): Promise<Cue[] | null> {
  const ranked = names
    .filter((name) => endings.includes(extname(name)))
    .sort((a, b) => endings.indexOf(extname(a)) - endings.indexOf(extname(b)));
  for (const name of ranked) {
    const path = join(dir, name);
    const { size } = await stat(path);
    if (size > maxTranscriptBytes)
      throw new FetchError('program_failed', `the transcription command wrote ${size} bytes`);
    return readTranscript(await readFile(path, 'utf8'), transcriptFormat('', name));
  }
  return null;
}

/* OpenAI's `POST /audio/transcriptions`, with timed segments until a model refuses them. */

/** Max file size of such endpoints. Five minutes of samples are 10 MB. */
const maxFileBytes = 25_000_000;
/** Max size of an answer: five minutes of speech with words and segments. */
const maxAnswerBytes = 16 * 1024 * 1024;

export function endpointRecognizer({ endpoint, model, call, wall }: EndpointOptions & { model: string }): Recognizer {
  let hasSegments = true;
  const ask = async (
    file: Buffer<ArrayBuffer>,
    format: 'verbose_json' | 'json',
    signal: AbortSignal,
  ): Promise<unknown> => {
    const form = new FormData();
    form.set('model', model);
    form.set('response_format', format);
    form.set('file', new Blob([file], { type: 'audio/wav' }), 'audio.wav');
    const sent = new Response(form);
    const contentType = sent.headers.get('content-type') ?? '';
    const body = new Uint8Array(await sent.arrayBuffer());
    const request = { path: '/audio/transcriptions', body, contentType, maxBytes: maxAnswerBytes, wall };
    return call((limited) => postBytes(endpoint, { ...request, signal: limited }), { signal });
  };
  const askBest = async (file: Buffer<ArrayBuffer>, signal: AbortSignal): Promise<unknown> => {
    if (!hasSegments) return ask(file, 'json', signal);
    try {
      return await ask(file, 'verbose_json', signal);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code !== 'refused') throw error;
      const answer = await ask(file, 'json', signal);
      hasSegments = false;
      return answer;
    }
  };
  return {
    async recognize({ path, lengthS }, signal) {
      const answer = await askBest(await readBounded(path), signal);
      const isTranscript = typeof answer === 'object' && answer !== null && 'text' in answer;
      if (!isTranscript || typeof answer.text !== 'string') {
        throw new ProviderError(endpoint.provider, 'bad_answer', 'no text in the answer');
      }
      // A text without times covers the whole part.
      return readTranscript(JSON.stringify(answer), 'json').map((cue) =>
        cue.startS === null ? { ...cue, startS: 0, endS: lengthS } : cue,
      );
    },
  };
}

async function readBounded(path: string): Promise<Buffer<ArrayBuffer>> {
  await using file = await open(path);
  const { size } = await file.stat();
  if (size <= maxFileBytes) return await file.readFile();
  throw new FetchError('too_large', 'the recording is too large for the endpoint: install ffmpeg to send it in parts');
}
