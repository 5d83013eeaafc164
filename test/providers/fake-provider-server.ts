/**
 * An outside provider on loopback: a real HTTP server that speaks the wire formats of OpenAI (embeddings, chat), Voyage and Cohere
 * (embeddings, rerank) and Text Embeddings Inference (rerank). Vectors follow from the text alone: the same text has the same one,
 * another text another one, and texts that share words are near. Faults are chosen call by call.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { seededRandom } from '../../src/compute/seeded-random.ts';
import type { Scope } from '../scope.ts';

export type Fault =
  | { kind: 'status'; status: number; headers?: Record<string, string>; message?: string }
  /** Never answers. */
  | { kind: 'hang' }
  /** The right answer, when that has resolved. */
  | { kind: 'late'; after: Promise<void> }
  /** The connection breaks before an answer. */
  | { kind: 'hangUp' }
  /** Half an answer, then the connection breaks. */
  | { kind: 'reset' }
  /** The right answer, one byte at a time. */
  | { kind: 'drip'; everyMs: number }
  | { kind: 'html' }
  | { kind: 'badJson' }
  /** White space without end, up to `bytes`. */
  | { kind: 'huge'; bytes: number }
  /** The same, packed. */
  | { kind: 'gzipBomb'; bytes: number }
  /** The right answer, changed; a text is sent as it is. */
  | { kind: 'tamper'; change: (answer: never) => unknown };

export interface ReceivedCall {
  path: string;
  /** Without its question mark. */
  query: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export interface FakeProvider {
  /** `http://127.0.0.1:<port>`; wire formats are told apart by path and fields, below any prefix. */
  url: string;
  /** In the order in which they came. */
  calls: ReceivedCall[];
  /** Which fault a call meets; none unless set. */
  faultOf: (call: ReceivedCall, nth: number) => Fault | undefined;
  /** What a chat answers, whole or in pieces; by default about the last message. */
  completion: (call: ReceivedCall) => string | AsyncIterable<string>;
  /** Calls that have neither been answered nor given up. */
  readonly pending: number;
  /** Resolves when that many calls have come in all. */
  received(count: number): Promise<void>;
  /** Resolves when no call is pending any more. */
  idle(): Promise<void>;
  /** Resolves when no connection is open any more. */
  disconnected(): Promise<void>;
  close(): Promise<void>;
}

export interface FakeProviderOptions {
  dim: number;
  /** Where set, any other key is answered 401. */
  apiKey?: string;
}

const randomFrom = (text: string) => seededRandom(createHash('sha256').update(text).digest().readUInt32LE(0));

/** The vector of a text, of unit length. */
export function vectorOf(text: string, dim: number): Float32Array {
  const out = new Float64Array(dim);
  const add = (part: string, weight: number) => {
    const random = randomFrom(part);
    for (let i = 0; i < dim; i++) out[i] += weight * (random() - 0.5);
  };
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) add(`word ${word}`, 1);
  add(`text ${text}`, 0.2);
  const length = Math.hypot(...out);
  return Float32Array.from(out, (value) => value / length);
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}

function aboutLastMessage({ body }: ReceivedCall): string {
  const messages = body.messages as { content: string }[];
  return `About ${messages.at(-1)?.content.slice(0, 40)}`;
}

async function* piecesOf(content: string | AsyncIterable<string>): AsyncGenerator<string> {
  if (typeof content === 'string') for (const piece of content.match(/.{1,7}/gs) ?? []) yield piece;
  else yield* content;
}

/** A chat's answer as server-sent events, as OpenAI and Ollama write them. */
async function stream(response: ServerResponse, content: string | AsyncIterable<string>): Promise<void> {
  const event = (data: unknown) => response.write(`data: ${JSON.stringify(data)}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).flushHeaders();
  event({ choices: [{ index: 0, delta: { role: 'assistant', content: null } }] });
  for await (const text of piecesOf(content)) {
    if (response.destroyed) return;
    event({ choices: [{ index: 0, delta: { content: text } }] });
  }
  event({ choices: [], usage: { total_tokens: 1 } });
  response.end('data: [DONE]\n\n');
}

/** The right answer to a call, or a status. */
function answerTo(call: ReceivedCall, dim: number, completion: FakeProvider['completion']): unknown {
  const { path, body } = call;
  const texts = [body.input ?? body.texts ?? body.documents ?? []].flat().map(String);
  const scores = () =>
    texts
      .map((text, index) => ({ index, score: cosine(vectorOf(String(body.query), dim), vectorOf(text, dim)) }))
      .sort((a, b) => b.score - a.score);
  const asVoyage = () => scores().map(({ index, score }) => ({ index, relevance_score: score }));
  if (path.endsWith('/chat/completions')) {
    const content = completion(call);
    return { object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content } }] };
  }
  if (texts.length === 0 || texts.includes('')) return 400;
  if (path.endsWith('/rerank')) {
    if (Array.isArray(body.texts)) return scores();
    return 'top_k' in body ? { object: 'list', data: asVoyage() } : { id: 'r', results: asVoyage() };
  }
  if (path.endsWith('/embed')) {
    if (!['search_document', 'search_query'].includes(String(body.input_type))) return 400;
    return { id: 'e', embeddings: { float: texts.map((text) => [...vectorOf(text, dim)]) } };
  }
  if (!path.endsWith('/embeddings')) return 404;
  if ('input_type' in body && !['query', 'document'].includes(String(body.input_type))) return 400;
  const data = texts.map((text, index) => {
    const vector = vectorOf(text, dim);
    const packed = Buffer.from(vector.buffer).toString('base64');
    return { object: 'embedding', index, embedding: body.encoding_format === 'base64' ? packed : [...vector] };
  });
  return { object: 'list', data: data.reverse(), model: body.model };
}

async function* spaces(bytes: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024, ' ');
  for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk;
}

const bombs = new Map<number, Buffer>();

function bombOf(bytes: number): Buffer {
  const bomb = bombs.get(bytes) ?? gzipSync(Buffer.alloc(bytes, ' '), { level: 1 });
  bombs.set(bytes, bomb);
  return bomb;
}

async function send(response: ServerResponse, answer: unknown, fault: Fault | undefined): Promise<void> {
  const json = { 'content-type': 'application/json' };
  const status = typeof answer === 'number' ? answer : 200;
  const text = JSON.stringify(status === 200 ? answer : { error: { message: 'no' } });
  switch (fault?.kind) {
    case undefined:
      response.writeHead(status, json).end(text);
      return;
    case 'status':
      response
        .writeHead(fault.status, { ...json, ...fault.headers })
        .end(JSON.stringify({ error: { message: fault.message ?? 'secret detail' } }));
      return;
    case 'hang':
      return;
    case 'late':
      await fault.after;
      response.writeHead(status, json).end(text);
      return;
    case 'hangUp':
      response.socket?.resetAndDestroy();
      return;
    case 'reset':
      response.writeHead(200, { ...json, 'content-length': text.length });
      response.write(text.slice(0, text.length / 2), () => response.socket?.resetAndDestroy());
      return;
    case 'drip': {
      response.writeHead(200, json).flushHeaders();
      let at = 0;
      const timer = setInterval(() => response.write(text[at++ % text.length]), fault.everyMs);
      response.once('close', () => clearInterval(timer));
      return;
    }
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Please log in</html>');
      return;
    case 'badJson':
      response.writeHead(200, json).end(text.slice(0, -1));
      return;
    case 'huge':
      response.writeHead(200, json);
      await pipeline(spaces(fault.bytes), response).catch(() => response.destroy()); // the caller has had enough
      return;
    case 'gzipBomb':
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bombOf(fault.bytes));
      return;
    case 'tamper': {
      const changed = fault.change(answer as never);
      response.writeHead(200, json).end(typeof changed === 'string' ? changed : JSON.stringify(changed));
    }
  }
}

/** Closed with the scope, if there is one. */
export async function startFakeProvider(
  scope: Scope | null,
  { dim, apiKey }: FakeProviderOptions,
): Promise<FakeProvider> {
  const calls: ReceivedCall[] = [];
  const sockets = new Set<Socket>();
  const expecting: { count: number; resolve: () => void }[] = [];
  const waiting: (() => void)[] = [];
  const leaving: (() => void)[] = [];
  let pending = 0;
  const settle = () => {
    pending--;
    if (pending === 0) for (const resolve of waiting.splice(0)) resolve();
  };

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    pending++;
    response.once('close', settle);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const [path, query = ''] = (request.url ?? '').split('?');
    const call = { path, query, headers: request.headers, body };
    calls.push(call);
    for (const { count, resolve } of expecting) if (calls.length >= count) resolve();
    const known = apiKey === undefined || request.headers.authorization === `Bearer ${apiKey}`;
    const fault = provider.faultOf(call, calls.length);
    if (known && fault === undefined && body.stream === true) await stream(response, provider.completion(call));
    else await send(response, known ? answerTo(call, dim, provider.completion) : 401, fault);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error) => response.destroy(error));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) for (const resolve of leaving.splice(0)) resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const provider: FakeProvider = {
    url: `http://127.0.0.1:${port}`,
    calls,
    faultOf: () => undefined,
    completion: aboutLastMessage,
    get pending() {
      return pending;
    },
    received: (count) =>
      calls.length >= count ? Promise.resolve() : new Promise((resolve) => expecting.push({ count, resolve })),
    idle: () => (pending === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    disconnected: () => (sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => leaving.push(resolve))),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  scope?.after(() => provider.close());
  return provider;
}
