/** Limits time, size and number of connections. At the max, a new one replaces an unauthenticated or idle one. */

import { existsSync, readFileSync } from 'node:fs';
import { createServer as createNodeServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The header limit stays at Node's 16 KB; more is answered 431. */
export const nodeServerOptions = {
  /** Time for the headers since the start of the connection, ms. Also ends silent connections. */
  headersTimeout: 8_000,
  connectionsCheckingInterval: 1_000,
} as const;

/** For a whole request with its body, ms: 64 MB at 1 MB/s. */
const requestTimeout = 64_000;
/** Max time without a byte in either direction, ms. Every answer takes less. */
const connectionTimeout = 120_000;
const keepAliveTimeout = 72_000;
/** With 10,000 half-open connections the service still answers others; each costs about 10 KB. */
const mostConnections = 15_000;
/** Open files for everything else: store, index, threads, logs, fetches. An idle service has about 50. */
const filesKept = 128;
const minShare = 1 / 3;
const refusalMs = 1_000;

/** PEM. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

export function createServer(listener: RequestListener, certificate: Certificate | null = null): Server {
  const options = { ...nodeServerOptions, requestTimeout, keepAliveTimeout };
  const handshakeTimeout = nodeServerOptions.headersTimeout;
  const server =
    certificate === null
      ? createNodeServer(options, listener)
      : createTlsServer({ ...options, ...certificate, handshakeTimeout }, listener);
  server.setTimeout(connectionTimeout);
  return server;
}

export function connectionsOf(openFiles: number): number {
  const most = Math.max(openFiles - filesKept, Math.floor(openFiles * minShare));
  return Math.max(1, Math.min(mostConnections, most));
}

/** The open file limit of this process, from Linux's table; elsewhere the common value. */
export function openFileLimit(table = limitsTable()): number {
  const soft = /^Max open files +(\d+|unlimited)/m.exec(table)?.[1];
  if (soft === undefined) return commonFileLimit;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** On macOS, Node raises its own limit up to 10,240. */
const commonFileLimit = 10_240;

const limitsFile = '/proc/self/limits';
const limitsTable = (): string => (existsSync(limitsFile) ? readFileSync(limitsFile, 'latin1') : '');

/** Connections by state: unauthenticated, answering, or idle. */
class Connections {
  readonly #strangers = new Set<Socket>();
  readonly #idle = new Set<Socket>();
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

  asks(socket: Socket): void {
    const isHere = this.#asking.has(socket) || this.#strangers.delete(socket) || this.#idle.delete(socket);
    if (!isHere) return; // a tool's call of a route has no connection
    this.#asking.set(socket, (this.#asking.get(socket) ?? 0) + 1);
  }

  answered(socket: Socket): void {
    const left = (this.#asking.get(socket) ?? 0) - 1;
    if (left > 0) this.#asking.set(socket, left);
    else if (this.#asking.delete(socket)) this.#idle.add(socket);
  }

  /** If all connections are answering, ends the new one. */
  #endOne(newest: Socket): void {
    const [oldest = newest] = this.#strangers.size > 0 ? this.#strangers : this.#idle;
    for (const group of [this.#strangers, this.#idle]) group.delete(oldest);
    oldest.destroy();
  }
}

/** Limit the number of connections. Register before the token check, which calls `vouch`. */
export function limitConnections(app: FastifyInstance, most = connectionsOf(openFileLimit())): void {
  const connections = new Connections(most);
  // Connections that just ended still use their file.
  app.server.maxConnections = most + Math.ceil(most / 8);
  // Requests have the TLS socket. Handshakes are limited by their time and `maxConnections`.
  const event = app.server instanceof TlsServer ? 'secureConnection' : 'connection';
  app.server.on(event, (socket: Socket) => connections.opened(socket));
  app.decorateRequest('vouch', () => {}); // for requests that do not reach the router
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

export const refuseLate = (socket: Socket): void =>
  refuseMalformed(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);

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
  socket.setTimeout(refusalMs, () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
