/** Speech recognizers: a command, or an endpoint. */
import { open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Cue } from '../compute/transcript/cue.ts';
import { readTranscript, transcriptFormat } from '../compute/transcript/read-transcript.ts';
import { FetchError } from './fetch-error.ts';
import { postBytes } from './http-json.ts';
import type { Endpoint } from './provider-settings.ts';
import { type ProviderCall, ProviderError } from './resilient-call.ts';
import { ProgramError, runProgram } from './run-program.ts';

export interface Sound {
  /** A WAVE file or, without a decoder, the original recording. */
  path: string;
  /** Its own folder, for temporary files. */
  dir: string;
  /** Length of this piece in seconds; null if unknown. */
  lengthS: number | null;
}

export interface Recognizer {
  /**
   * Cues with times from the start of the sound; empty without speech.
   * Errors: FetchError, ProviderError, BreakerOpenError; the signal's reason.
   */
  recognize(sound: Sound, signal: AbortSignal): Promise<Cue[]>;
}

/** Words between blanks; quotes group words. Null for an unclosed quote. */
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

/*
 * Recognizes speech by a configured program, such as whisper.cpp's `whisper-cli`. It gets the path of a sound file and writes a
 * transcript to a file next to it or to standard output.
 */

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

export function commandRecognizer({ program, args, model, env }: CommandRecognizer): Recognizer {
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

/*
 * Recognizes speech by an OpenAI-compatible `POST /audio/transcriptions`, with timed segments if the model supports them. After a model
 * refuses, only plain text is requested.
 */

interface EndpointRecognizer {
  endpoint: Endpoint;
  model: string;
  call: ProviderCall;
  wall: () => number;
}

/** Limit of such endpoints; five minutes of samples are 10 MB. */
const maxFileBytes = 25_000_000;
/** Five minutes of speech with words and segments. */
const maxAnswerBytes = 16 * 1024 * 1024;

export function endpointRecognizer({ endpoint, model, call, wall }: EndpointRecognizer): Recognizer {
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
      // A text without times spans the piece.
      return readTranscript(JSON.stringify(answer), 'json').map((cue) =>
        cue.startS === null ? { ...cue, startS: 0, endS: lengthS } : cue,
      );
    },
  };
}

async function readBounded(path: string): Promise<Buffer<ArrayBuffer>> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size <= maxFileBytes) return await file.readFile();
  } finally {
    await file.close();
  }
  throw new FetchError(
    'too_large',
    'the recording is too large for the endpoint: with ffmpeg it would be sent in pieces',
  );
}
