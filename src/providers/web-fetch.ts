/**
 * Fetches from the open web, by Node's HTTP client (docs/decisions/fetching-with-node-http.md). All fetches share one
 * instance, so a host gets one request at a time. Makes no decision about content or status.
 *
 * Each hop, in order: check the scheme (http, https); wait for the host's turn; resolve the name and keep allowed
 * addresses (IP literals too); connect to a checked address; treat a redirect as a new hop. Names and passwords in an address are sent to
 * its origin only. One deadline covers all hops, without the wait for a turn and the caller's work before `follow`.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { readRetryAfterMs } from '../compute/retries.ts';
import { traced } from '../compute/span.ts';
import { BodyRoom } from '../compute/structures/body-room.ts';
import { addressPolicy } from '../compute/web/address-policy.ts';
import { addressInHeader } from '../compute/web/canonical-url.ts';
import { normalizeHost } from '../compute/web/domain-match.ts';
import { unescaped } from '../compute/web/unescaped.ts';
import { type Clock, Deadline, systemClock } from './clock.ts';
import { FetchError, transportError } from './fetch-error.ts';
import { HostRateLimiter } from './host-rate-limiter.ts';
import { type Network, unjudgedNetwork } from './network.ts';
import { acceptEncoding, readBody, writeBody } from './read-body.ts';
import { connectionTo, hostResolver, type Lookup, type ResolvedAddress } from './resolve-host.ts';

export interface WebFetchOptions {
  allowPrivateHosts: readonly string[];
  perHostGapMs: number;
  /** Max time of one fetch with all redirects, ms. */
  timeoutMs: number;
  /** Max bytes of a decoded body. */
  maxBytes: number;
  userAgent: string;
  /** Distinguishes a host that is down from a missing network. Not used for hosts in `allowPrivateHosts`. */
  network?: Network;
  lookup?: Lookup;
  clock?: Clock;
}

export interface WebRequest {
  signal: AbortSignal;
  /** Lower-case names. `authorization` and `cookie` are sent to the first origin only. */
  headers?: Readonly<Record<string, string>>;
  maxBytes?: number;
  timeoutMs?: number;
  /** Fails with `host_waits` if more callers wait for the host (default: no limit). */
  maxAhead?: number;
  /** Examines an answer's head and may choose a sink for its body; an error ends the fetch. Not called for redirects. */
  admit?: (head: AnswerHead, url: URL) => BodySink | undefined;
}

/** Takes a body piece by piece, without buffering it; the answer's `body` is then empty. */
export interface BodySink {
  /** The next piece follows when this one is taken; its bytes are then invalid. */
  write(bytes: Uint8Array): Promise<void>;
  /** Max bytes of the decoded body; overrides the request's limit. */
  maxBytes: number;
  /** Max time of the whole fetch, ms; overrides the request's limit. */
  timeoutMs: number;
}

export interface AnswerHead {
  /** Status of the last hop; never that of a followed redirect. */
  status: number;
  /** Lower-case names, joined if repeated; no cookies or control characters. */
  headers: Readonly<Record<string, string>>;
}

export interface WebAnswer extends AnswerHead {
  /** Final address without name and password. */
  finalUrl: string;
  /** Decoded. For statuses other than 2xx: the readable beginning. */
  body: Uint8Array;
  /** Redirecting addresses in order, without names and passwords. */
  redirects: string[];
  /** Follow a redirect in the content or `Refresh`, under the fetch's limits and checks. Errors: as of the fetch. */
  follow(address: string): Promise<WebAnswer>;
}

/** Errors: FetchError; the signal's reason. A status is not an error: see `statusError`. */
export type WebFetch = (url: string, request: WebRequest) => Promise<WebAnswer>;

const maxRedirects = 5;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);
/** Max bytes of an error answer, enough to classify it. */
const maxErrorBytes = 65_536;
/** Some sites send long policies and many cookies; Node's default is 16 KB. */
const maxHeaderSize = 65_536;
/** Max memory of large bodies over all fetches, in addition to the first body. */
const roomBytes = 10_000_000;
/** Pause after an unreachable host, ms, so that its other pages do not each try it. */
const unreachedPauseMs = 60_000;
const ownedByOrigin = new Set(['authorization', 'cookie', 'proxy-authorization']);

export function createWebFetch(options: WebFetchOptions): WebFetch {
  const { clock = systemClock, network = unjudgedNetwork, userAgent } = options;
  const policy = addressPolicy(options.allowPrivateHosts);
  const resolve = hostResolver(policy, options.lookup);
  const turns = new HostRateLimiter(options.perHostGapMs, clock);
  const room = new BodyRoom(roomBytes);

  return async (given, request) => {
    const { signal, headers = {}, maxBytes = options.maxBytes, timeoutMs = options.timeoutMs } = request;
    let url = webUrl(given);
    let sent = { ...headers };
    const redirects: string[] = [];
    /** Whether a captive portal may have redirected here. */
    let isForgeable = false;

    const tooLate = (ms: number) => new FetchError('timeout', `timed out after ${ms / 1000} s`);
    const notReached = new FetchError('unreachable', `no connection within ${timeoutMs / 1000} s`);
    const deadline = new Deadline(clock, timeoutMs, signal, notReached);

    const reach = async (limited: AbortSignal): Promise<IncomingMessage> => {
      deadline.extend(0, notReached);
      const addresses = await resolve(url.hostname, isForgeable);
      const headers = { ...headersFor(url, userAgent), ...sent };
      return openHop(url, addresses, headers, limited, () => deadline.extend(0, tooLate(timeoutMs)));
    };

    const read = async (answer: IncomingMessage, signal: AbortSignal): Promise<WebAnswer | URL> => {
      const breakOff = () => answer.destroy();
      signal.addEventListener('abort', breakOff, { once: true });
      const share = room.enter();
      try {
        const status = answer.statusCode ?? 0;
        if (redirectStatuses.has(status) && answer.headers.location !== undefined) {
          return redirectTarget(addressInHeader(answer.headers.location), url);
        }
        const isPage = status >= 200 && status < 300;
        const retryAfterMs = retryAfterOf(status, answer.headers['retry-after'], clock.wall());
        if (retryAfterMs !== undefined && !policy.lists(url.hostname)) turns.postpone(url.hostname, retryAfterMs);
        const head = { status, headers: plainHeaders(answer) };
        const sink = request.admit?.(head, url);
        const takeRoom = (bytes: number) => {
          const wait = share.take(bytes, signal);
          return wait === null ? null : deadline.pause(wait);
        };
        if (sink !== undefined && isPage) {
          deadline.extend(sink.timeoutMs - timeoutMs, tooLate(sink.timeoutMs));
          await writeBody(answer, sink.maxBytes, { write: sink.write, takeRoom });
          return { ...head, finalUrl: shown(url), body: new Uint8Array(), redirects, follow };
        }
        const maxRead = isPage ? maxBytes : Math.min(maxBytes, maxErrorBytes);
        const body = await readBody(answer, maxRead, { cut: !isPage, takeRoom });
        return { ...head, finalUrl: shown(url), body, redirects, follow };
      } finally {
        signal.removeEventListener('abort', breakOff);
        share.leave();
      }
    };

    const turnTo = (target: URL) => {
      redirects.push(shown(url));
      if (redirects.length > maxRedirects) throw new FetchError('too_many_redirects', 'too many redirects');
      if (target.origin !== url.origin) sent = withoutCredentials(sent);
      isForgeable = url.protocol === 'http:' && !policy.lists(url.hostname);
      url = target;
    };

    const fetchOn = async (): Promise<WebAnswer> => {
      for (;;) {
        const isPolite = !policy.lists(url.hostname);
        const endTurn = isPolite ? await turns.take(url.hostname, signal, request.maxAhead ?? Infinity) : () => {};
        let result: WebAnswer | URL;
        try {
          result = await traced('fetch', { hop: redirects.length + 1 }, async () => {
            const reached = () => deadline.run(reach);
            const answer = await (isPolite ? network.contact(reached) : reached());
            try {
              return await deadline.run((limited) => read(answer, limited));
            } finally {
              answer.destroy();
            }
          });
        } catch (error) {
          const isUnreached = error instanceof FetchError && error.maxReachTries !== null;
          if (isPolite && isUnreached) turns.postpone(url.hostname, unreachedPauseMs, error);
          throw error;
        } finally {
          endTurn();
        }
        if (!(result instanceof URL)) return result;
        turnTo(result);
      }
    };

    const follow = async (address: string): Promise<WebAnswer> => {
      turnTo(redirectTarget(address, url));
      return fetchOn();
    };

    return fetchOn();
  };
}

/** Null for 2xx (except an unrequested part) and for 304, which only conditional requests get; else a FetchError. */
export function statusError({ status, headers }: WebAnswer, clock: Clock = systemClock): FetchError | null {
  const isWhole = status >= 200 && status < 300 && (status !== 206 || isAll(headers['content-range']));
  if (isWhole || status === 304) return null;
  return new FetchError('http_status', `HTTP ${status}`, {
    status,
    permanent: status === 404 || status === 410,
    retryAfterMs: retryAfterOf(status, headers['retry-after'], clock.wall()),
  });
}

function isAll(contentRange: string | undefined): boolean {
  if (contentRange === undefined) return true;
  const [, first, last, length] = /^bytes +(\d+)-(\d+)\/(\d+)$/i.exec(contentRange.trim()) ?? [];
  return Number(first) === 0 && Number(last) + 1 === Number(length);
}

/** Send a request and wait for the answer's head. Errors: FetchError; the signal's reason. */
function openHop(
  url: URL,
  addresses: readonly ResolvedAddress[],
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  onConnected: () => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(shown(url), {
      headers,
      agent: false,
      // Parse like browsers: no CR, folded lines, a length with chunks. Safe: no other answer uses this connection.
      insecureHTTPParser: true,
      signal,
      maxHeaderSize,
      ...connectionTo(addresses),
    });
    let isConnected = false;
    request.once('socket', (socket) =>
      socket.once('connect', () => {
        isConnected = true;
        onConnected();
      }),
    );
    request.once('response', resolve);
    // Not `once`, as a socket may fail twice. The error of a limit takes precedence.
    request.on('error', (error) => reject(signal.aborted ? signal.reason : transportError(error, isConnected)));
    // If the server switches protocols, neither event follows.
    request.once('close', () =>
      reject(new FetchError('broken_answer', 'the answer broke off or is not HTTP (unknown)')),
    );
    request.end();
  });
}

function headersFor(url: URL, userAgent: string): Record<string, string> {
  const userinfo = `${unescaped(url.username)}:${unescaped(url.password)}`;
  return {
    'user-agent': userAgent,
    accept: '*/*',
    'accept-encoding': acceptEncoding,
    ...(userinfo === ':' ? {} : { authorization: `Basic ${Buffer.from(userinfo).toString('base64')}` }),
  };
}

function webUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href))
    throw new FetchError('bad_address', base === undefined ? 'not an address' : 'redirected to an invalid address');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new FetchError('unsupported_scheme', `unsupported scheme ${url.protocol.slice(0, 20).replace(/:$/, '')}`);
  }
  const host = normalizeHost(url.hostname);
  if (typeof host !== 'string') throw new FetchError('bad_address', `an address must have a host ${host.invalid}`);
  return url;
}

/** A redirect without a fragment keeps the old one (Fetch standard, "location URL"), and no name and password. */
function redirectTarget(location: string, from: URL): URL {
  const target = webUrl(location, from);
  if (target.hash === '') target.hash = from.hash;
  if (target.origin === from.origin) {
    target.username = from.username;
    target.password = from.password;
  } else {
    target.username = '';
    target.password = '';
  }
  return target;
}

function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownedByOrigin.has(name.toLowerCase())));
}

function shown(url: URL): string {
  const open = new URL(url);
  open.username = '';
  open.password = '';
  return open.href;
}

/** Drops values with control characters: an `etag` with one could not be sent back. */
function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? [[name, value]] : [],
    ),
  );
}

function retryAfterOf(status: number, header: string | undefined, now: number): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  return readRetryAfterMs(header ?? null, now);
}
