/** A server over a system that answers from a table: enough to see how routes ask and how replies and errors are mapped. */
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { Access } from '../../src/access/access.ts';
import { type AuthToken, defaultLibrary } from '../../src/domain/access.ts';
import { DomainError } from '../../src/domain/errors.ts';
import type { Ask, MessageName, ReplyOf, RequestOf } from '../../src/domain/messages.ts';
import type { HttpApp } from '../../src/http/http-app.ts';
import { buildServer, type ServerOptions } from '../../src/http/server.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import type { Scope } from '../scope.ts';

export const writer = 'writer-token-0123456789';
export const reader = 'reader-token-0123456789';

export type Answers = {
  [Name in MessageName]?: (
    request: RequestOf<Name>,
    signal: AbortSignal | undefined,
  ) => ReplyOf<Name> | Promise<ReplyOf<Name>>;
};
type AnyAnswer = (request: unknown, signal: AbortSignal | undefined) => unknown;

export interface TestServer {
  app: HttpApp;
  /** What was asked, in order. */
  asked: { name: MessageName; request: unknown }[];
  /** Lines of the log. */
  lines: string[];
}

/** Closed with the scope, if any. */
export function testServer(
  scope: Scope | null,
  answers: Answers = {},
  options: Partial<ServerOptions> = {},
): TestServer {
  const asked: TestServer['asked'] = [];
  const lines: string[] = [];
  const table = answers as Partial<Record<MessageName, AnyAnswer>>;
  const ask = (async (name: MessageName, request: unknown, asking?: { signal?: AbortSignal }) => {
    asked.push({ name, request });
    const answer = table[name];
    if (answer === undefined) throw new DomainError('not_found', `no answer to ${name}`);
    return answer(request, asking?.signal);
  }) as Ask;
  const log = createLog({ json_logs: true, log_level: 'debug' }, { write: (line) => lines.push(line) });
  const tokens: AuthToken[] = [
    { name: 'home', library: defaultLibrary, token: writer, scopes: ['write'] },
    { name: 'phone', library: defaultLibrary, token: reader, scopes: ['read'] },
  ];
  const access = new Access({
    operatorTokens: () => tokens,
    libraries: new Set([defaultLibrary]),
    file: { records: null, save: async () => {} },
    log,
  });
  const metrics = createMetrics();
  metrics.ofLibrary();
  const app = buildServer({
    askOf: () => ask,
    readiness: (signal) => ask('system.readiness', {}, { signal }),
    access,
    consoleDir: '/nowhere',
    log,
    metrics,
    version: '0.0.0',
    bind_host: '127.0.0.1',
    allowed_hosts: [],
    allowed_origins: [],
    events: { heartbeat_s: 15 },
    mcp: { enable_mutating_tools: false },
    shownSettings: () => ({ settings: {}, mutability: {} }),
    backups: {
      make: () => Promise.reject(new Error('no backups here')),
      list: () => Promise.reject(new Error('no backups here')),
    },
    capabilities: async () => ({
      yt_dlp: null,
      transcription: { kind: null, detail: 'nothing is there', ffmpeg: false },
    }),
    ...options,
  });
  scope?.after(() => app.close());
  return { app, asked, lines };
}

/** Listen on loopback; gives the port. */
export async function listenAnywhere(app: HttpApp): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

export const bearer = (token: string) => ({ host: 'localhost', authorization: `Bearer ${token}` });

export interface Answer {
  status: number;
  head: string;
  body: string;
}

/** Send these bytes over a real connection and read until the other side closes or the answer is complete. */
export async function sendRaw(app: HttpApp, ...parts: readonly (string | Buffer)[]): Promise<Answer> {
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.setMaxListeners(0);
  await once(socket, 'connect');
  const received: Buffer[] = [];
  const complete = new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      received.push(data);
      const text = Buffer.concat(received).toString();
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      const bodyAt = text.indexOf('\r\n\r\n');
      if (length !== undefined && bodyAt >= 0 && Buffer.byteLength(text.slice(bodyAt + 4)) >= Number(length)) resolve();
    });
    // The server may cut a connection that is still sending.
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
  });
  for (const part of parts) {
    if (socket.writable && !socket.write(part)) await Promise.race([once(socket, 'drain'), complete]);
  }
  await complete;
  socket.destroy();
  const text = Buffer.concat(received).toString();
  const bodyAt = text.indexOf('\r\n\r\n');
  return { status: Number(text.slice(9, 12)), head: text.slice(0, bodyAt), body: text.slice(bodyAt + 4) };
}

/** The head of a request with token and loopback host. */
export const rawHead = (method: string, path: string, ...headers: readonly string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1', `authorization: Bearer ${writer}`, ...headers, '', ''].join('\r\n');
