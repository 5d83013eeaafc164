/**
 * One JSON request to an outside provider, and nothing else: no retry, no time limit of its own (the signal ends it, and the
 * socket with it). Node's fetch suffices: decoded bytes are counted here, so neither a long answer nor a small one that unpacks
 * into a long one is held. What goes wrong becomes a ProviderError; a body, which may repeat texts or keys, is never quoted.
 */
import { readRetryAfterMs } from '../compute/retry-delay.ts';
import type { Endpoint } from './endpoint.ts';
import { ProviderError, type ProviderFault } from './provider-error.ts';

export interface JsonRequest {
  /** Below the endpoint's address, with a leading slash. */
  path: string;
  body: unknown;
  /** Decoded bytes of the answer at most. */
  maxBytes: number;
  signal: AbortSignal;
  /** Wall clock, ms, to read a Retry-After date. */
  wall: () => number;
}

/** `application/json` and its relatives, with or without parameters. An answer without a type is read as JSON, too. */
const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * POST JSON and read JSON.
 * Errors: ProviderError; the signal's reason when it fired.
 */
export async function postJson(endpoint: Endpoint, request: JsonRequest): Promise<unknown> {
  const { signal, maxBytes } = request;
  const { provider } = endpoint;
  const init: RequestInit = {
    method: 'POST',
    headers: headersFor(endpoint),
    body: JSON.stringify(request.body),
    redirect: 'manual',
    signal,
  };
  try {
    const response = await fetch(addressOf(endpoint.baseUrl, request.path), init);
    try {
      checkStatus(provider, response, request.wall());
      const type = response.headers.get('content-type') ?? '';
      if (type !== '' && !jsonType.test(type)) throw new ProviderError(provider, 'not_json', 'the answer is not JSON');
      return parsed(provider, await readBody(provider, response, maxBytes));
    } finally {
      if (!response.bodyUsed) void discard(response);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderError) throw error;
    throw new ProviderError(provider, 'unreachable', `cannot be reached${reasonOf(error)}`, { cause: error });
  }
}

/** The endpoint's address with a path below it; its own path and query stay. */
export function addressOf(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  url.hash = '';
  return url;
}

function headersFor({ provider, credentials: { api_key, userinfo } }: Endpoint): Headers {
  const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json' });
  const basic = userinfo === null ? null : `Basic ${Buffer.from(userinfo).toString('base64')}`;
  const authorization = api_key === null ? basic : `Bearer ${api_key}`;
  if (authorization === null) return headers;
  try {
    headers.set('authorization', authorization);
  } catch {
    // The original error quotes the key.
    throw new ProviderError(provider, 'unauthorized', 'its key has characters that no header can carry');
  }
  return headers;
}

function faultOf(status: number): ProviderFault {
  if (status >= 500) return 'failing';
  if (status === 408 || status === 425 || status === 429) return 'busy';
  if (status === 401 || status === 403) return 'unauthorized';
  return status >= 400 ? 'refused' : 'redirected';
}

function checkStatus(provider: string, { ok, status, headers }: Response, now: number): void {
  if (ok) return;
  const retryAfterMs = readRetryAfterMs(headers.get('retry-after'), now);
  throw new ProviderError(provider, faultOf(status), `answered ${status}`, { status, retryAfterMs });
}

async function readBody(provider: string, response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ProviderError(provider, 'too_large', `the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(provider: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The original error quotes the answer.
    throw new ProviderError(provider, 'not_json', 'the answer is not JSON');
  }
}

/** Let go of a body that nobody reads; the connection ends, and how it ends does not matter. */
const discard = (response: Response) => response.body?.cancel().catch(() => {});

/** The system's code of a failed connection, such as ECONNREFUSED. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : '';
}
