/**
 * What one connection may cost: limits on time, size and number, so that slow or silent clients are cut
 * and what is not HTTP is answered in the service's own error shape.
 */
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** Options of the Node server. Header size stays at Node's 16 KB; more is answered 431. */
export const nodeServerOptions = {
  /** From the connection's start, ms: silent connections are cut after it, too. */
  headersTimeout: 8_000,
  /** How often connections are looked at, ms. */
  connectionsCheckingInterval: 1_000,
} as const;

/** For a whole request with its body, ms: 64 MB at 1 MB/s. */
export const requestTimeout = 64_000;
/** Without a byte in either direction, ms: longer than any answer takes. */
export const connectionTimeout = 120_000;
/** Kept open between requests, ms. */
export const keepAliveTimeout = 72_000;
/** Above 10,000 half-open ones the service still answers others; each costs some 10 KB. */
const maxConnections = 15_000;
/** For a refused client to take its answer, ms. */
const farewellMs = 1_000;

export function limitConnections(server: Server): void {
  server.maxConnections = maxConnections;
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
