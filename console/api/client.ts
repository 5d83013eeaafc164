/**
 * Requests to the service. The session cookie is the only credential; a header marks requests of this page. Errors:
 * `ApiError` (an error answer), `Unreachable` (no answer), or an abort.
 */
import { signal } from '@preact/signals';

export class ApiError extends Error {
  readonly status: number;
  /** Seconds until a retry, if given. */
  readonly retryAfterS: number | null;
  /** Null if not JSON. */
  readonly body: unknown;

  constructor(status: number, detail: string, retryAfterS: number | null, body: unknown = null) {
    super(detail);
    this.status = status;
    this.retryAfterS = retryAfterS;
    this.body = body;
  }
}

export class Unreachable extends Error {}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
export type Query = Record<string, string | number | boolean | null | undefined>;

export interface CallOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  /** Whether the request outlives the page; for small bodies. */
  keepalive?: boolean;
}

/** Whether the last request succeeded. */
export const connection = signal<'ok' | 'lost'>('ok');
/** Incremented when all displayed data may be stale: the service is back, or a user signed in. */
export const epoch = signal(0);
/** A 401 answer ends a session. */
export const session = signal<'unknown' | 'in' | 'out' | 'expired'>('unknown');

export const sessionsPath = '/v1/sessions';
const clientHeaders = { 'x-readback': 'console' };

export async function call<Body>(method: Method, path: string, options: CallOptions = {}): Promise<Body> {
  const { query = {}, body, signal, keepalive = false } = options;
  const response = await send(path + queryText(query), {
    method,
    keepalive,
    headers: { ...clientHeaders, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (!response.ok) throw await refusal(response);
  return (response.status === 204 ? undefined : await response.json()) as Body;
}

export const get = <Body>(path: string, query?: Query, signal?: AbortSignal): Promise<Body> =>
  call<Body>('GET', path, { ...(query && { query }), ...(signal && { signal }) });

/** Upload a file unchanged. */
export async function upload<Body>(path: string, query: Query, file: Blob): Promise<Body> {
  const response = await send(path + queryText(query), {
    method: 'POST',
    headers: { ...clientHeaders, 'content-type': 'application/octet-stream' },
    body: file,
  });
  if (!response.ok) throw await refusal(response);
  return (await response.json()) as Body;
}

/** The server-sent events of a request, as they arrive. Errors: as of `call`, also where the connection is lost later. */
export async function* stream<Event>(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<Event> {
  const response = await send(path, {
    method: 'POST',
    headers: { ...clientHeaders, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok || response.body === null) throw await refusal(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ; ) {
    const { done, value } = await reader.read().catch(lose);
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [event, data] = ['event', 'data'].map((name) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1]);
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) } as Event;
    }
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  const asked = epoch.value;
  try {
    const response = await fetch(path, { ...init, credentials: 'same-origin', cache: 'no-store' });
    // Requests from before a sign-in, and rejected codes or tokens, do not end the current session.
    const isOfSession = epoch.value === asked && !(init.method === 'POST' && path === sessionsPath);
    if (response.status === 401 && session.value === 'in' && isOfSession) session.value = 'expired';
    if (connection.value === 'lost') isBack();
    return response;
  } catch (error) {
    if (!isAbort(error) && init.body instanceof Blob && !(await isReadable(init.body)))
      throw new Error('not readable: it is a folder, or has been deleted.', { cause: error });
    return lose(error);
  }
}

function lose(error: unknown): never {
  if (isAbort(error)) throw error;
  probeSession();
  throw new Unreachable('The service does not answer.', { cause: error });
}

/** A file may be deleted, or be a folder. Browsers report both like a network failure. */
const isReadable = (file: Blob): Promise<boolean> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

async function refusal(response: Response): Promise<ApiError> {
  const after = Number(response.headers.get('retry-after'));
  const body: unknown = await response.json().catch(() => null);
  const detail = detailOf(body) ?? `The service answered ${response.status}.`;
  return new ApiError(response.status, detail, after > 0 ? after : null, body);
}

interface Fault {
  loc: (string | number)[];
  msg: string;
}

function detailOf(body: unknown): string | undefined {
  const { detail } = (body ?? {}) as { detail?: string | Fault[] };
  const said =
    typeof detail === 'string'
      ? detail
      : detail
          ?.map(({ loc, msg }) => [loc.filter((part) => part !== 'body').join('.'), msg].filter(Boolean).join(': '))
          .join('; ');
  return said && inOneDirection(said);
}

/** A text of the service with parts from outside, without direction changes. */
export const inOneDirection = (said: string): string => said.replace(/[\u202A-\u202E]/g, '');

function queryText(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

const firstPauseMs = 500;
const longestPauseMs = 5000;
let probing = false;

/** Poll with growing pauses until the service answers. */
export function probeSession(): void {
  connection.value = 'lost';
  if (probing) return;
  probing = true;
  let pauseMs = firstPauseMs;
  const again = async () => {
    if (connection.value === 'lost' && !(await lives())) {
      pauseMs = Math.min(pauseMs * 1.6, longestPauseMs);
      setTimeout(again, pauseMs);
      return;
    }
    probing = false;
    if (connection.value === 'lost') isBack();
  };
  setTimeout(again, pauseMs);
}

function isBack(): void {
  connection.value = 'ok';
  epoch.value++;
}

/** Instead of waiting for the next poll. */
export async function tryNow(): Promise<void> {
  if ((await lives()) && connection.value === 'lost') isBack();
}

async function lives(): Promise<boolean> {
  try {
    return (await fetch('/readyz', { cache: 'no-store' })).ok;
  } catch {
    return false; // still away: asks again
  }
}

/** The error as a sentence for the user. */
export function wordsFor(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const wait = error.retryAfterS === null ? '' : ` Try again in ${error.retryAfterS} s.`;
  if (error.status === 503) return `The service cannot do this now: ${error.message}.${wait}`;
  if (error.status === 507) return `The library is full: ${error.message}.`;
  if (error.status === 413) return 'This is too large for the service.';
  if (error.status === 401) return 'Your session has ended; this was not done.';
  const { pattern } = (error.body ?? {}) as { pattern?: string };
  if (error.status === 403 && pattern !== undefined)
    return `${inOneDirection(pattern)} is blocked or was deleted. Unblock it to add it.`;
  if (error.status === 403) return `You may not do this: ${error.message}.`;
  return error.message;
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';
