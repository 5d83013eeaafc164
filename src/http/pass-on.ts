/** In a cluster, streams a request to the library's owner, which alone authorizes it. A second host answers 503. */
import { timingSafeEqual } from 'node:crypto';
import { Agent, type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overTls, Agent as TlsAgent } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Access, hexOf } from '../access/access.ts';
import { codeDigest } from '../access/one-time-codes.ts';
import { otherLibrary } from '../domain/access.ts';
import { DomainError } from '../domain/errors.ts';
import { headerValues, presentedBy, presentedIn } from './credentials.ts';

export interface Peers {
  secret: string;
  /** The library of a credential or code, by its digest. Errors: the database's. */
  libraryOf(digest: string): Promise<string | null>;
  /** Null: this host, which opens an unserved library; or an address. Errors: DomainError `store_unavailable`. */
  placeOf(library: string): Promise<string | null>;
}

interface PassOnOptions {
  access: Access;
  peers: Peers;
  isForeign(request: IncomingMessage): string | null;
}

/** Time between checks that an answer can still come, ms. A stalled host reports nothing. */
export const askEveryMs = 250;
/** The same for a stream, such as events. */
const askStreamEveryMs = 2_000;
/** Max time to connect, ms: a lost machine does not refuse connections. */
export const connectMs = 1_000;
/** Max wait of a request for a new owner, ms. */
const waitMs = 5_000;
const lookEveryMs = 50;
/** Anyone can send the header of a passed request, so its fault is logged at most this often, ms. */
const tellEveryMs = 60_000;

const hopHeader = 'x-readback-host';
/** Hop-by-hop headers (RFC 9110, 7.6.1), which are not passed on. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  hopHeader,
]);

export function isPassedOn(request: IncomingMessage, { secret }: Peers): boolean {
  const [shown, ...others] = headerValues(request, hopHeader);
  if (shown === undefined || others.length > 0) return false;
  return timingSafeEqual(Buffer.from(hexOf(shown)), Buffer.from(hexOf(secret)));
}

/** Register before admission. */
export function passOnToOwners(app: FastifyInstance, { access, peers, isForeign }: PassOnOptions): void {
  const agents = { 'http:': new Agent({ keepAlive: true }), 'https:': new TlsAgent({ keepAlive: true }) };
  app.addHook('onClose', async () => {
    for (const agent of Object.values(agents)) agent.destroy();
  });

  const libraryOf = async ({ raw }: FastifyRequest): Promise<string | null> => {
    const presented = presentedIn(raw);
    if (presented === null) return null;
    return presentedBy(raw, access)?.library ?? (await peers.libraryOf(hexOf(presented.secret)));
  };

  /** True once the request is sent to another host. If that accepts no connection, waits for the next owner. */
  const pass = async (request: FastifyRequest, reply: FastifyReply, library: string, body?: string) => {
    const until = performance.now() + waitMs;
    for (;;) {
      const address = await peers.placeOf(library).catch((cause) => {
        if (cause instanceof DomainError) throw cause;
        throw unreachable('the database of the cluster cannot be reached', cause);
      });
      if (address === null) return false;
      if (isPassedOn(request.raw, peers)) throw unreachable('the library is moving to another host');
      const passed = passedTo(address, { from: request.raw, secret: peers.secret, agents, body });
      const failure = await connection(passed);
      if (failure === null) {
        request.vouch();
        reply.hijack();
        const hasMoved = () => peers.placeOf(library).then((place) => place !== address);
        send(request.raw, reply, { passed, address, body, hasMoved });
        return true;
      }
      if (request.raw.socket.destroyed || performance.now() > until)
        throw unreachable('the host that serves the library does not answer', failure);
      await delay(lookEveryMs);
    }
  };

  let tellFrom = 0;
  app.addHook('onRequest', async (request, reply) => {
    const { scope, isOfHost = false } = request.routeOptions.config;
    const { raw } = request;
    if (scope === 'public' || request.method === 'OPTIONS') return;
    // Only another host sends this header: a misconfigured one, or one of another cluster. The request might loop.
    if (headerValues(raw, hopHeader).length > 0 && !isPassedOn(raw, peers)) {
      if (performance.now() > tellFrom) {
        tellFrom = performance.now() + tellEveryMs;
        request.log.warn({ from: raw.socket.remoteAddress }, 'a request was passed on with another cluster.secret');
      }
      throw unreachable('the host that passed the request on has another cluster.secret than this one');
    }
    if (!isPassedOn(raw, peers) && isForeign(raw) !== null) return; // refused by admission
    if (isOfHost && presentedBy(raw, access) !== null) return;
    const library = await libraryOf(request).catch((cause) => {
      throw unreachable('the database of the cluster cannot be reached', cause);
    });
    if (library === null) return;
    if (await pass(request, reply, library)) return reply;
    // The token was created elsewhere, after this host opened the library. The next opening, which is now, knows it.
    if (presentedIn(raw)?.kind === 'token' && presentedBy(raw, access) === null)
      throw unreachable('the token is too new for the host that serves its library');
  });

  app.addHook('preHandler', async (request, reply) => {
    const { takesCredential } = request.routeOptions.config;
    if (takesCredential === undefined) return;
    const { code, token, keep_library } = request.body as { code?: string; token?: string; keep_library?: boolean };
    const refuseGuessing = () => {
      if (token === undefined && !isPassedOn(request.raw, peers)) access.refuseGuessing(takesCredential);
    };
    refuseGuessing();
    const digest = token === undefined ? codeDigest(takesCredential, String(code)) : hexOf(token);
    const known = token === undefined ? undefined : access.holderOfToken(token)?.library;
    const library = known ?? (await peers.libraryOf(digest));
    refuseGuessing(); // other codes were wrong meanwhile
    // Only checked here: the host of the code's library does not know sessions of other libraries.
    const current = keep_library && library !== null ? await libraryOf(request) : null;
    if (library !== null && current !== null && current !== library)
      return reply.code(409).send(otherLibrary(current, library));
    if (library !== null && (await pass(request, reply, library, JSON.stringify(request.body)))) return reply;
  });
}

const unreachable = (message: string, cause?: unknown) =>
  new DomainError('store_unavailable', message, { retryAfterS: 1, cause });

interface Passing {
  from: IncomingMessage;
  secret: string;
  agents: { 'http:': Agent; 'https:': TlsAgent };
  body: string | undefined;
}

/** The same request for another host, not sent yet. */
function passedTo(address: string, { from, secret, agents, body }: Passing): ClientRequest {
  const { protocol, hostname, port } = new URL(address);
  const headers = ['host', from.headers.host ?? '', hopHeader, secret];
  for (const [name, value] of headersOf(from)) {
    if (name.toLowerCase() === 'host' || (body !== undefined && /^(?:content-length|transfer-encoding)$/i.test(name)))
      continue;
    headers.push(name, value);
  }
  if (body !== undefined) headers.push('content-length', String(Buffer.byteLength(body)));
  const isTls = protocol === 'https:';
  const options = {
    ...{ method: from.method, path: from.url, hostname: hostname.replace(/^\[|\]$/g, ''), port, headers },
    setHost: false,
    agent: agents[isTls ? 'https:' : 'http:'],
  };
  return isTls ? overTls(options) : overHttp(options);
}

/** Null once connected, else the error. */
function connection(passed: ClientRequest): Promise<Error | null> {
  return new Promise((resolve) => {
    const late = setTimeout(() => passed.destroy(new Error('no connection in time')), connectMs);
    const settle = (failure: Error | null) => {
      clearTimeout(late);
      resolve(failure);
    };
    passed.once('error', settle);
    passed.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => settle(null));
      else settle(null);
    });
  });
}

interface Destination extends Pick<Passing, 'body'> {
  passed: ClientRequest;
  address: string;
  /** Whether another host owns the library now. Errors: DomainError if none does; the database's. */
  hasMoved(): Promise<boolean>;
}

function send(from: IncomingMessage, { raw: to, request }: FastifyReply, destination: Destination): void {
  const { passed, address, body, hasMoved } = destination;
  let asking: NodeJS.Timeout;
  /** When ownership was last confirmed. Without PostgreSQL it lasts as long as the lease. */
  let knownAt = performance.now();
  const askLater = () => {
    asking = setTimeout(ask, to.headersSent ? askStreamEveryMs : askEveryMs).unref();
  };
  const ask = async () => {
    try {
      if (await hasMoved()) passed.destroy(new Error('the library has moved'));
      knownAt = performance.now();
    } catch (error) {
      if (isUnserved(error) || performance.now() - knownAt > waitMs) passed.destroy(error as Error);
    }
    if (!passed.destroyed) askLater();
  };
  askLater();
  passed.on('response', (answer) => {
    const answered = [...headersOf(answer)].filter(([name]) => name.toLowerCase() !== 'transfer-encoding');
    to.writeHead(answer.statusCode ?? 502, answered.flat());
    answer.pipe(to);
    answer.on('error', () => to.destroy()); // its host failed before the end
    // The rest of an answered body is dropped.
    answer.on('end', () => from.unpipe(passed).resume());
  });
  passed.on('close', () => clearTimeout(asking));
  passed.on('error', (err) => {
    if (to.headersSent || to.destroyed) return;
    request.log.warn({ err, address }, 'a request could not be passed on');
    const detail = JSON.stringify({ detail: 'the host that serves the library does not answer' });
    to.writeHead(503, { 'content-type': 'application/json; charset=utf-8', 'retry-after': '1' }).end(detail);
    from.unpipe(passed).resume();
  });
  to.on('close', () => {
    if (!to.writableFinished) passed.destroy();
  });
  if (body === undefined) from.pipe(passed);
  else passed.end(body);
}

/** Whether no answer can come: the library is suspended, deleted, or no host opens it. */
function isUnserved(error: unknown): boolean {
  return error instanceof DomainError && error.code !== 'shutting_down';
}

function* headersOf({ rawHeaders }: IncomingMessage): Generator<[string, string]> {
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!ofConnection.has(rawHeaders[at].toLowerCase())) yield [rawHeaders[at], rawHeaders[at + 1]];
}
