/**
 * One JSON request to a provider, without retry or time limit. Bodies may contain texts or keys and are never quoted.
 * Node's client, unlike fetch, has no limit of 300 s. It follows no redirects and closes an aborted connection.
 */

import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { StringDecoder } from 'node:string_decoder';
import { readRetryAfterMs } from '../compute/retries.ts';
import { boundedPieces, collected } from '../compute/structures/pieces.ts';
import { shownCode } from '../domain/errors.ts';
import type { Credentials } from '../settings/secrets.ts';
import type { Endpoint } from './provider-settings.ts';
import { ProviderError, type ProviderFault } from './resilient-call.ts';

export interface BytesRequest {
  /** Path relative to the endpoint's address, with a leading slash. */
  path: string;
  body: Uint8Array;
  contentType: string;
  /** Max bytes of the answer. */
  maxBytes: number;
  signal: AbortSignal;
  /** Wall clock, ms, to read a Retry-After date. */
  wall: () => number;
  /** The fault by the answer's text, for providers with unreliable statuses. Null: use the status. */
  faultOf?: ((status: number, answer: string) => ProviderFault | null) | undefined;
}

export type JsonRequest = Omit<BytesRequest, 'body' | 'contentType'> & { body: unknown };

/** `application/json` and variants. An answer without a type is read as JSON. */
const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

export function postJson(endpoint: Endpoint, request: JsonRequest): Promise<unknown> {
  const body = Buffer.from(JSON.stringify(request.body));
  return postBytes(endpoint, { ...request, body, contentType: 'application/json' });
}

export function postBytes(endpoint: Endpoint, request: BytesRequest): Promise<unknown> {
  return post(endpoint, request, jsonOnly, (response) => readJson(endpoint.provider, response, request.maxBytes));
}

/**
 * `take` gets each server-sent event, or the whole answer of a server that does not stream. False closes the
 * connection. Errors: as of `postJson`; `take` must not throw.
 */
export function postForEvents(
  endpoint: Endpoint,
  request: JsonRequest,
  take: (data: unknown) => boolean,
): Promise<void> {
  const { provider } = endpoint;
  const body = Buffer.from(JSON.stringify(request.body));
  return post(endpoint, { ...request, body, contentType: 'application/json' }, orEvents, async (response) => {
    if (!eventsType.test(response.headers['content-type'] ?? '')) {
      take(await readJson(provider, response, request.maxBytes));
      return;
    }
    const decoder = new StringDecoder();
    let rest = '';
    for await (const chunk of boundedBody(provider, response, request.maxBytes)) {
      const lines = (rest + decoder.write(chunk)).split(/\r?\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const data = /^data: ?(.*)$/.exec(line)?.[1] ?? '';
        if (data === '[DONE]' || (data !== '' && !take(parsed(provider, data)))) return;
      }
    }
  });
}

const jsonOnly = 'application/json';
const orEvents = 'text/event-stream, application/json';
const eventsType = /^text\/event-stream\s*(?:;|$)/i;

async function post<Answer>(
  endpoint: Endpoint,
  request: BytesRequest,
  accept: string,
  read: (response: IncomingMessage) => Promise<Answer>,
): Promise<Answer> {
  const { provider } = endpoint;
  const { signal, body, contentType } = request;
  const url = addressOf(endpoint, request.path);
  for (;;) {
    signal.throwIfAborted();
    const sending = openRequest(endpoint, url, { contentType, accept, length: body.length });
    const leave = () => sending.destroy();
    signal.addEventListener('abort', leave, { once: true });
    let answered = false;
    let whole = false;
    try {
      const response = await responseTo(sending, body);
      answered = true;
      await checkStatus(provider, response, request);
      const answer = await read(response);
      whole = response.complete;
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ProviderError) throw error;
      // The provider closed a kept connection before this request arrived: use a new one.
      if (!answered && sending.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(shownCode(error))) continue;
      throw new ProviderError(provider, 'unreachable', `cannot be reached (${shownCode(error)})`);
    } finally {
      signal.removeEventListener('abort', leave);
      if (!whole) sending.destroy(); // an unread answer would keep its connection
    }
  }
}

/** Appends a path to the endpoint's address; keeps its own path and parameters. */
export function addressOf({ baseUrl, credentials }: Pick<Endpoint, 'baseUrl' | 'credentials'>, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/(?<!\/)\/+$/, '') + path;
  if (credentials.query !== null) url.search = credentials.query;
  return url;
}

function authorizationOf({ api_key, userinfo }: Credentials): string | null {
  if (api_key !== null) return `Bearer ${api_key}`;
  return userinfo === null ? null : `Basic ${Buffer.from(userinfo).toString('base64')}`;
}

function openRequest(
  { provider, credentials }: Endpoint,
  url: URL,
  { contentType, accept, length }: { contentType: string; accept: string; length: number },
): ClientRequest {
  const authorization = authorizationOf(credentials);
  const headers = {
    'content-type': contentType,
    'content-length': length,
    accept,
    'accept-encoding': 'identity',
    ...(authorization === null ? {} : { authorization }),
  };
  try {
    return (url.protocol === 'https:' ? requestHttps : requestHttp)(url, { method: 'POST', headers });
  } catch (error) {
    throw new ProviderError(provider, 'unauthorized', `its key cannot be sent (${shownCode(error)})`);
  }
}

function responseTo(sending: ClientRequest, body: Uint8Array): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sending.once('response', resolve);
    sending.on('error', reject); // not `once`: a socket may fail more than once
    sending.end(body);
  });
}

function faultOf(status: number): ProviderFault {
  // Text Embeddings Inference answers 424 if its model failed.
  if (status >= 500 || status === 424) return 'failing';
  if (status === 408 || status === 425 || status === 429) return 'busy';
  if (status === 401 || status === 403) return 'unauthorized';
  return status >= 400 ? 'refused' : 'redirected';
}

async function checkStatus(
  provider: string,
  response: IncomingMessage,
  request: Pick<BytesRequest, 'faultOf' | 'maxBytes' | 'wall'>,
): Promise<void> {
  const { statusCode: status = 0, headers } = response;
  if (status >= 200 && status <= 299) return;
  const retryAfterMs = readRetryAfterMs(headers['retry-after'] ?? null, request.wall());
  const why = status === 404 ? ': no such path, or no such model there' : '';
  const byAnswer = request.faultOf?.(status, await readBody(provider, response, request.maxBytes)) ?? null;
  const fault = byAnswer ?? faultOf(status);
  throw new ProviderError(provider, fault, `answered ${status}${why}`, { status, retryAfterMs });
}

function checkType(provider: string, { headers }: IncomingMessage): void {
  const type = headers['content-type'] ?? '';
  if (type !== '' && !jsonType.test(type)) throw new ProviderError(provider, 'not_json', 'the answer is not JSON');
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new ProviderError(provider, 'not_json', 'the answer is compressed, which was not requested');
  }
}

async function readJson(provider: string, response: IncomingMessage, maxBytes: number): Promise<unknown> {
  checkType(provider, response);
  return parsed(provider, await readBody(provider, response, maxBytes));
}

async function readBody(provider: string, response: IncomingMessage, maxBytes: number): Promise<string> {
  return Buffer.concat(await collected(boundedBody(provider, response, maxBytes))).toString();
}

const boundedBody = (provider: string, response: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> =>
  boundedPieces(
    response,
    maxBytes,
    () => new ProviderError(provider, 'too_large', `the answer is larger than ${maxBytes} bytes`),
  );

function parsed(provider: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The original error quotes the answer.
    throw new ProviderError(provider, 'not_json', 'the answer is not JSON');
  }
}
