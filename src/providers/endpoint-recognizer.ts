/**
 * Recognizes speech by an OpenAI-compatible `POST /audio/transcriptions`, with timed segments if the model supports them. After a model
 * refuses, only plain text is requested.
 */
import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { readTranscript } from '../compute/transcript/read-transcript.ts';
import type { Endpoint } from './endpoint.ts';
import { FetchError } from './fetch-error.ts';
import { postBytes } from './http-json.ts';
import { ProviderError } from './provider-error.ts';
import type { Recognizer } from './recognizer.ts';
import type { ProviderCall } from './resilient-call.ts';

export interface EndpointRecognizer {
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
  const ask = (file: Uint8Array, format: 'verbose_json' | 'json', signal: AbortSignal): Promise<unknown> => {
    const { contentType, body } = formOf({ model, response_format: format }, file);
    const request = { path: '/audio/transcriptions', body, contentType, maxBytes: maxAnswerBytes, wall };
    return call((limited) => postBytes(endpoint, { ...request, signal: limited }), { signal });
  };
  const askBest = async (file: Uint8Array, signal: AbortSignal): Promise<unknown> => {
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

async function readBounded(path: string): Promise<Uint8Array> {
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

/** A form with a file (RFC 7578). */
function formOf(fields: Readonly<Record<string, string>>, file: Uint8Array) {
  const boundary = `readback-${randomBytes(16).toString('hex')}`;
  const head = (disposition: string) => `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`;
  const texts = Object.entries(fields).map(([name, value]) => `${head(`name="${name}"`)}\r\n${value}\r\n`);
  const fileHead = `${head('name="file"; filename="audio.wav"')}content-type: audio/wav\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(texts.join('') + fileHead), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}
