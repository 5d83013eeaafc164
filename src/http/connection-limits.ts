/**
 * What one connection may cost, and how many there may be: limits on time and size, so that slow or silent clients are cut and what is
 * not HTTP is answered in the service's own error shape. The number follows the open files that the process may have. When it
 * is reached, a new connection takes the place of the oldest one that has shown no token, or else of one that is only kept open.
 */
import { readFileSync } from 'node:fs';
import { createServer as createNodeServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { errorCode } from '../domain/error-code.ts';

/** Options of the Node server. Header size stays at Node's 16 KB; more is answered 431. */
export const nodeServerOptions = {
  /** From the connection's start, ms: silent connections are cut after it, too. */
  headersTimeout: 8_000,
  /** How often connections are looked at, ms. */
  connectionsCheckingInterval: 1_000,
} as const;

/** For a whole request with its body, ms: 64 MB at 1 MB/s. */
const requestTimeout = 64_000;
/** Without a byte in either direction, ms: longer than any answer takes. */
const connectionTimeout = 120_000;
/** Kept open between requests, ms. */
const keepAliveTimeout = 72_000;
/** Above 10,000 half-open ones the service still answers others; each costs some 10 KB. */
const mostConnections = 15_000;
/** Open files of everything else: the store, index files, threads, logs, fetches. Some 50 are open when nothing is done. */
const filesKept = 128;
/** Of few files a third is for connections. */
const leastShare = 1 / 3;
/** For a refused client to take its answer, ms. */
const farewellMs = 1_000;

/** A Node server with these limits. */
export function createServer(listener: RequestListener): Server {
  const server = createNodeServer({ ...nodeServerOptions, requestTimeout, keepAliveTimeout }, listener);
  server.setTimeout(connectionTimeout);
  return server;
}

/** How many connections a process of so many open files may have. */
export function connectionsOf(openFiles: number): number {
  const most = Math.max(openFiles - filesKept, Math.floor(openFiles * leastShare));
  return Math.max(1, Math.min(mostConnections, most));
}

/** Open files that this process may have: from Linux's table; elsewhere what is common there. */
export function openFileLimit(table = limitsTable()): number {
  const soft = /^Max open files +(\d+|unlimited)/m.exec(table)?.[1];
  if (soft === undefined) return commonFileLimit;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Node raises its own limit as far as it may: to 10,240 on macOS. */
const commonFileLimit = 10_240;

function limitsTable(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

/** Who has a connection: nobody known, somebody whose request is being answered, or somebody who has nothing to ask just now. */
class Connections {
  readonly #strangers = new Set<Socket>();
  readonly #idle = new Set<Socket>();
  /** Requests with a token that are being answered. */
  readonly #asking = new Map<Socket, number>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  opened(socket: Socket): void {
    if (this.#strangers.size + this.#idle.size + this.#asking.size >= this.#most) this.#endOne(socket);
    this.#strangers.add(socket);
    socket.once('close', () => {
      for (const group of [this.#strangers, this.#idle, this.#asking]) group.delete(socket);
    });
  }

  /** A request of theirs has shown a token. */
  asks(socket: Socket): void {
    const isHere = this.#asking.has(socket) || this.#strangers.delete(socket) || this.#idle.delete(socket);
    if (!isHere) return; // a tool's call of a route has no connection
    this.#asking.set(socket, (this.#asking.get(socket) ?? 0) + 1);
  }

  /** It was answered. */
  answered(socket: Socket): void {
    const left = (this.#asking.get(socket) ?? 0) - 1;
    if (left > 0) this.#asking.set(socket, left);
    else if (this.#asking.delete(socket)) this.#idle.add(socket);
  }

  /** Where all are being answered, it is the new one that has no place. */
  #endOne(newest: Socket): void {
    const [oldest = newest] = this.#strangers.size > 0 ? this.#strangers : this.#idle;
    for (const group of [this.#strangers, this.#idle]) group.delete(oldest);
    oldest.destroy();
  }
}

/** Bound the number of connections. Register before the check of tokens, which tells by `vouch` whose are good. */
export function limitConnections(app: FastifyInstance, most = connectionsOf(openFileLimit())): void {
  const connections = new Connections(most);
  // Those that were ended a moment ago still have their file.
  app.server.maxConnections = most + Math.ceil(most / 8);
  app.server.on('connection', (socket) => connections.opened(socket));
  app.decorateRequest('vouch', () => {}); // for what never reaches the router
  app.addHook('onRequest', async (request, { raw }) => {
    const { socket } = request.raw;
    request.vouch = () => {
      connections.asks(socket);
      raw.once('close', () => connections.answered(socket));
    };
  });
}

const refusals: Readonly<Record<string, { status: number; detail: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'the request took too long to arrive' },
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'the headers are larger than 16 KB' },
};

/** Answers what Node's parser refuses. */
export function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, detail } = refusals[error.code ?? ''] ?? { status: 400, detail: 'not a valid HTTP request' };
  const body = JSON.stringify({ detail });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.setTimeout(farewellMs, () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
