/**
 * Calls to the service. Every expected result is a value; an unexpected body is `failing`. No retries: the queue has
 * its own, and users click again.
 */
import type { BlacklistResponse, ForgetResponse } from '../../../src/domain/blacklist.ts';
import type { MetadataEdit } from '../../../src/domain/metadata.ts';
import type { IngestBatchResult, PageResponse, PageSummary } from '../../../src/domain/page.ts';
import type { SearchRequest, SearchResponse } from '../../../src/domain/search.ts';
import { retryAfterMs } from '../queue/backoff.ts';
import type { Connection } from './connection.ts';

export type Problem =
  /** No answer. The request may have been processed. */
  | { problem: 'unreachable'; detail: string }
  /** 5xx, and 4xx unrelated to the pages. The request may have been processed, too. */
  | { problem: 'busy' | 'failing' | 'full'; detail: string; retryAfterMs: number | null }
  /** 4xx: nothing was accepted. */
  | { problem: 'unauthorized' | 'forbidden' | 'too_large' | 'invalid' | 'not_found'; detail: string }
  | { problem: 'rate_limited'; detail: string; retryAfterMs: number | null };
export type Outcome<Body> = { problem: null; body: Body } | Problem;

/** Time limit, ms; a batch is answered when it is on the disk. */
const answerWithinMs = 60_000;
/** Max bytes of an answer: a block list of 50,000 addresses. */
const maxBytes = 16 * 1024 * 1024;
/** Units of a problem's text. */
const longestDetail = 300;

export interface IngestItem {
  url: string;
  title: string | null;
  body_html?: string;
  fetched_at: string;
  /** Repeats of unanswered requests count once. */
  once: true;
  source: string;
  metadata: Record<string, string | number | boolean>;
}

function detailOf(body: unknown, status: number): string {
  const detail = typeof body === 'object' && body !== null && 'detail' in body ? body.detail : null;
  // Faults of the service's schema.
  const faults = [detail].flat() as ({ loc?: unknown[]; msg?: unknown } | string | null)[];
  const said = faults.map((each) =>
    typeof each === 'string' ? each : [each?.loc?.join('.'), each?.msg].filter(Boolean).join(': '),
  );
  return detail === null ? `HTTP ${status}` : said.join('; ').slice(0, longestDetail);
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

/** Required fields of an answer. */
type Shape = Record<string, 'list' | 'text'>;

function hasShape(answered: unknown, shape: Shape): boolean {
  if (typeof answered !== 'object' || answered === null) return false;
  const fields = answered as Record<string, unknown>;
  return Object.entries(shape).every(([name, kind]) =>
    kind === 'list' ? Array.isArray(fields[name]) : typeof fields[name] === 'string',
  );
}

/** Null if invalid, or longer than any expected answer. */
async function readJson(response: Response): Promise<unknown> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (const reader = response.body?.getReader(); reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      return null;
    }
    parts.push(value);
  }
  try {
    return JSON.parse(await new Blob(parts).text());
  } catch {
    return null; // a proxy's page, or a truncated answer
  }
}

/** Send a request, without a token if null. No redirect is followed, so the token goes nowhere else. */
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
    if (response.ok)
      return { problem: 'failing', detail: 'the answer does not come from a readback service', retryAfterMs: null };
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

/** Exchange a pairing code for this browser's token. */
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

  /** `leaving` aborts requests. */
  constructor(connection: Connection, leaving?: AbortSignal) {
    this.#connection = { ...connection, leaving };
  }

  whoami(): Promise<Outcome<{ name: string; scopes: string[] }>> {
    return send(this.#connection, 'GET', '/v1/whoami', { name: 'text', scopes: 'list' });
  }

  ingest(pages: IngestItem[]): Promise<Outcome<{ results: IngestBatchResult[] }>> {
    return send(this.#connection, 'POST', '/v1/pages/batch', { results: 'list' }, { pages });
  }

  pageOf(url: string): Promise<Outcome<{ pages: PageSummary[] }>> {
    return send(this.#connection, 'GET', `/v1/pages?limit=1&url=${encodeURIComponent(url)}`, { pages: 'list' });
  }

  /** Without its text. */
  page(id: string): Promise<Outcome<PageResponse>> {
    return send(this.#connection, 'GET', `/v1/pages/${id}?length=1`, { page_id: 'text' });
  }

  edit(id: string, change: MetadataEdit): Promise<Outcome<unknown>> {
    return send(this.#connection, 'PATCH', `/v1/pages/${id}`, { page_id: 'text' }, change);
  }

  blacklist(): Promise<Outcome<BlacklistResponse>> {
    return send(this.#connection, 'GET', '/v1/blacklist', { entries: 'list' });
  }

  forget(target: { url: string } | { domain: string }): Promise<Outcome<ForgetResponse>> {
    return send(this.#connection, 'POST', '/v1/forget', {}, target);
  }

  /** Passages, best first. `asked`: query options; the signal aborts. Never logged: these queries are typed, or generated. */
  search(
    query: string,
    k: number,
    {
      asked = {},
      signal,
      minRelevance,
    }: {
      asked?: Partial<Pick<SearchRequest, 'operators' | 'prefix' | 'spelling'>>;
      signal?: AbortSignal;
      minRelevance?: number;
    } = {},
  ): Promise<Outcome<SearchResponse>> {
    const floor = minRelevance === undefined ? {} : { min_relevance: minRelevance };
    const body = { query: query.slice(0, 4000), k, chunks_per_page: 1, suggest: 0, log: false, ...asked, ...floor };
    return send(this.#connection, 'POST', '/v1/search', { results: 'list' }, body, signal);
  }
}
