/**
 * Calls of the service. Every expected end of a call is a value; a body that is not what the contract says is `failing`. No retries
 * here: the queue has its own, and people click again.
 */
import type { BlacklistResponse, ForgetResponse } from '../../../src/domain/blacklist.ts';
import type { IngestBatchResult, PageSummary } from '../../../src/domain/page.ts';
import type { SearchResponse } from '../../../src/domain/search.ts';
import { retryAfterMs } from '../queue/backoff.ts';
import type { Connection } from './connection.ts';

export type Problem =
  /** No answer: whether the request was taken in is not known. */
  | { problem: 'unreachable'; detail: string }
  /** 5xx, and 4xx that say nothing of the pages: the same. */
  | { problem: 'busy' | 'failing' | 'full'; detail: string; retryAfterMs: number | null }
  /** 4xx: nothing was taken in. */
  | { problem: 'unauthorized' | 'forbidden' | 'too_large' | 'invalid' | 'not_found'; detail: string }
  | { problem: 'rate_limited'; detail: string; retryAfterMs: number | null };
export type Outcome<Body> = { problem: null; body: Body } | Problem;

/** An answer is waited for so long, ms; a batch is answered when it is on the disk. */
const answerWithinMs = 60_000;
/** Of an answer: a blacklist of 50,000 addresses. */
const mostBytes = 16 * 1024 * 1024;
/** Units of a problem's text that are kept. */
const longestDetail = 300;

export interface IngestItem {
  url: string;
  title: string | null;
  body_html?: string;
  fetched_at: string;
  /** What was handed in before, without an answer that anybody heard, counts once. */
  once: true;
  source: string;
  metadata: Record<string, string | number | boolean>;
}

function detailOf(body: unknown, status: number): string {
  const detail = typeof body === 'object' && body !== null && 'detail' in body ? body.detail : null;
  if (typeof detail === 'string') return detail.slice(0, longestDetail);
  return detail === null ? `HTTP ${status}` : JSON.stringify(detail).slice(0, longestDetail);
}

function problemOf(response: Response, body: unknown): Problem {
  const { status } = response;
  const detail = detailOf(body, status);
  const wait = retryAfterMs(response.headers.get('retry-after'), Date.now());
  if (status === 401) return { problem: 'unauthorized', detail };
  if (status === 403) return { problem: 'forbidden', detail };
  if (status === 404) return { problem: 'not_found', detail };
  if (status === 413) return { problem: 'too_large', detail };
  if (status === 429) return { problem: 'rate_limited', detail, retryAfterMs: wait };
  if (status === 507) return { problem: 'full', detail, retryAfterMs: wait };
  if (status === 503) return { problem: 'busy', detail, retryAfterMs: wait };
  return status === 422 ? { problem: 'invalid', detail } : { problem: 'failing', detail, retryAfterMs: wait };
}

/** What an answer of a route has at least: lists, texts. */
type Shape = Record<string, 'list' | 'text'>;

function hasShape(answered: unknown, shape: Shape): boolean {
  if (typeof answered !== 'object' || answered === null) return false;
  const fields = answered as Record<string, unknown>;
  return Object.entries(shape).every(([name, kind]) =>
    kind === 'list' ? Array.isArray(fields[name]) : typeof fields[name] === 'string',
  );
}

/** The JSON of an answer; null where it is none, or longer than any answer of the service to what is asked here. */
async function readJson(response: Response): Promise<unknown> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (const reader = response.body?.getReader(); reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > mostBytes) {
      await reader.cancel();
      return null;
    }
    parts.push(value);
  }
  try {
    return JSON.parse(await new Blob(parts).text());
  } catch {
    return null; // the page of a proxy, an answer that was cut
  }
}

/** Send a request to the service at `address`; without a token where it is null. No redirect is followed: the token goes nowhere else. */
async function send<Body>(
  { address, token, leaving }: { address: string; token: string | null; leaving?: AbortSignal | undefined },
  method: string,
  path: string,
  shape: Shape,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Outcome<Body>> {
  const patience = AbortSignal.timeout(answerWithinMs);
  try {
    const response = await fetch(address + path, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([patience, ...(signal ? [signal] : []), ...(leaving ? [leaving] : [])]),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
    });
    if (response.status === 204) return { problem: null, body: undefined as Body };
    const answered = await readJson(response);
    if (response.ok && hasShape(answered, shape)) return { problem: null, body: answered as Body };
    if (response.ok) return { problem: 'failing', detail: 'the answer is not that of a service', retryAfterMs: null };
    return problemOf(response, answered);
  } catch (error) {
    if (leaving?.aborted) return { problem: 'busy', detail: 'another service is being connected', retryAfterMs: null };
    if (patience.aborted)
      return { problem: 'failing', detail: `no answer within ${answerWithinMs / 1000} s`, retryAfterMs: null };
    return { problem: 'unreachable', detail: error instanceof Error ? error.message : String(error) };
  }
}

export interface Paired {
  token: string;
  name: string;
  library: string | null;
  scopes: string[];
}

/** Exchange a pairing code for a token of this browser's own. */
export function pair(address: string, code: string, name: string): Promise<Outcome<Paired>> {
  return send(
    { address, token: null },
    'POST',
    '/v1/pair',
    { token: 'text', name: 'text', scopes: 'list' },
    { code, name },
  );
}

export class ServiceClient {
  readonly #connection: Connection & { leaving: AbortSignal | undefined };

  /** `leaving` ends what is asked. */
  constructor(connection: Connection, leaving?: AbortSignal) {
    this.#connection = { ...connection, leaving };
  }

  whoami(): Promise<Outcome<{ name: string; scopes: string[] }>> {
    return send(this.#connection, 'GET', '/v1/whoami', { name: 'text', scopes: 'list' });
  }

  ingest(pages: IngestItem[]): Promise<Outcome<{ results: IngestBatchResult[] }>> {
    return send(this.#connection, 'POST', '/v1/pages/batch', { results: 'list' }, { pages });
  }

  /** The page of an address, or none. */
  pageOf(url: string): Promise<Outcome<{ pages: PageSummary[] }>> {
    return send(this.#connection, 'GET', `/v1/pages?limit=1&url=${encodeURIComponent(url)}`, { pages: 'list' });
  }

  blacklist(): Promise<Outcome<BlacklistResponse>> {
    return send(this.#connection, 'GET', '/v1/blacklist', { entries: 'list' });
  }

  forget(target: { url: string } | { domain: string }): Promise<Outcome<ForgetResponse>> {
    return send(this.#connection, 'POST', '/v1/forget', {}, target);
  }

  /**
   * Passages, the best first. `typed`: somebody is typing, so that the last word may be unfinished and operators count; the signal ends
   * a search that nobody waits for any more. None is put into the query log: they are typed, or made by the extension.
   */
  search(
    query: string,
    k: number,
    { typed = false, signal, minRelevance }: { typed?: boolean; signal?: AbortSignal; minRelevance?: number } = {},
  ): Promise<Outcome<SearchResponse>> {
    const asTyped = typed ? { operators: true, prefix: true } : {};
    const floor = minRelevance === undefined ? {} : { min_relevance: minRelevance };
    const body = { query: query.slice(0, 4000), k, chunks_per_page: 1, suggest: 0, log: false, ...asTyped, ...floor };
    return send(this.#connection, 'POST', '/v1/search', { results: 'list' }, body, signal);
  }
}
