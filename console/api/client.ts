/**
 * Requests to the service that served this page. The cookie is the only credential; the header says that it is this page that asks.
 * What goes wrong is one of three: `ApiError` (the service answered so), `Unreachable` (it did not answer), or an abort.
 */
import { signal } from '@preact/signals';

export class ApiError extends Error {
  readonly status: number;
  /** Seconds, where the service says when to ask again. */
  readonly retryAfterS: number | null;

  constructor(status: number, detail: string, retryAfterS: number | null) {
    super(detail);
    this.status = status;
    this.retryAfterS = retryAfterS;
  }
}

export class Unreachable extends Error {}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
export type Query = Record<string, string | number | boolean | null | undefined>;

export interface CallOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

/** Whether the last request got through. */
export const connection = signal<'ok' | 'lost'>('ok');
/** Raised whenever what is shown may be out of date as a whole: the service is back, somebody signed in. */
export const epoch = signal(0);
/** Told by answers: 401 ends a session that was there. */
export const session = signal<'unknown' | 'in' | 'out' | 'expired'>('unknown');

export const sessionsPath = '/v1/sessions';
const clientHeaders = { 'x-readback': 'console' };

/** Ask the service. Errors: `ApiError`, `Unreachable`, `AbortError`. */
export async function call<Body>(method: Method, path: string, options: CallOptions = {}): Promise<Body> {
  const { query = {}, body, signal } = options;
  const response = await send(path + queryText(query), {
    method,
    headers: { ...clientHeaders, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (!response.ok) throw await refusal(response);
  return (response.status === 204 ? undefined : await response.json()) as Body;
}

export const get = <Body>(path: string, query?: Query, signal?: AbortSignal): Promise<Body> =>
  call<Body>('GET', path, { ...(query && { query }), ...(signal && { signal }) });

/** Hand a file in as it is. */
export async function upload<Body>(path: string, query: Query, file: Blob): Promise<Body> {
  const response = await send(path + queryText(query), {
    method: 'POST',
    headers: { ...clientHeaders, 'content-type': 'application/octet-stream' },
    body: file,
  });
  if (!response.ok) throw await refusal(response);
  return (await response.json()) as Body;
}

async function send(path: string, init: RequestInit): Promise<Response> {
  const asked = epoch.value;
  try {
    const response = await fetch(path, { ...init, credentials: 'same-origin', cache: 'no-store' });
    // What was asked for before somebody signed in, and a code or token to sign in by, say nothing of the session that there is now.
    const isOfSession = epoch.value === asked && !(init.method === 'POST' && path === sessionsPath);
    if (response.status === 401 && session.value === 'in' && isOfSession) session.value = 'expired';
    if (connection.value === 'lost') isBack();
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    if (init.body instanceof Blob && !(await isReadable(init.body)))
      throw new Error('this cannot be read: it is a folder, or is not there any more.', { cause: error });
    knock();
    throw new Unreachable('The service does not answer.', { cause: error });
  }
}

/** A file may be gone since it was chosen, or be a folder, which a browser tells of as if the service were away. */
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
  return new ApiError(response.status, await detailOf(response), after > 0 ? after : null);
}

interface Fault {
  loc: (string | number)[];
  msg: string;
}

async function detailOf(response: Response): Promise<string> {
  const fallback = `The service answered ${response.status}.`;
  try {
    const { detail } = (await response.json()) as { detail?: string | Fault[] };
    const said =
      typeof detail === 'string'
        ? detail
        : detail
            ?.map(({ loc, msg }) => [loc.filter((part) => part !== 'body').join('.'), msg].filter(Boolean).join(': '))
            .join('; ');
    return said === undefined ? fallback : inOneDirection(said);
  } catch {
    return fallback; // an answer that is no JSON has no detail
  }
}

/** A sentence of the service with what others wrote in it, which must not turn the rest of it around. */
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
let knocking = false;

/** Ask for a sign of life, with growing pauses, until there is one. */
export function knock(): void {
  connection.value = 'lost';
  if (knocking) return;
  knocking = true;
  let pauseMs = firstPauseMs;
  const again = async () => {
    if (connection.value === 'lost' && !(await lives())) {
      pauseMs = Math.min(pauseMs * 1.6, longestPauseMs);
      setTimeout(again, pauseMs);
      return;
    }
    knocking = false;
    if (connection.value === 'lost') isBack();
  };
  setTimeout(again, pauseMs);
}

function isBack(): void {
  connection.value = 'ok';
  epoch.value++;
}

async function lives(): Promise<boolean> {
  try {
    return (await fetch('/readyz', { cache: 'no-store' })).ok;
  } catch {
    return false; // still away: asked again
  }
}

/** What went wrong, in words for the person. */
export function wordsFor(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const wait = error.retryAfterS === null ? '' : ` Try again in ${error.retryAfterS} s.`;
  if (error.status === 503) return `The service cannot do this now: ${error.message}.${wait}`;
  if (error.status === 507) return `The library is full: ${error.message}.`;
  if (error.status === 413) return 'This is larger than the service takes.';
  if (error.status === 401) return 'Your session has ended; this was not done.';
  if (error.status === 403) return `You may not do this: ${error.message}.`;
  return error.message;
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';
