/**
 * A loopback HTTP proxy for one run of another program, which connects only to allowed addresses and limits the bytes.
 * It serves `CONNECT` and requests with an absolute address, for the user and password in its own address.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { addressPolicy } from '../compute/web/address-policy.ts';
import { FetchError, transportError } from './fetch-error.ts';
import { connectionTo, hostResolver, type Lookup } from './resolve-host.ts';

export interface FilteringProxyOptions {
  allowPrivateHosts: readonly string[];
  /** Max bytes over all connections, in both directions. */
  maxBytes: number;
  lookup?: Lookup;
}

/** Max connections per run; programs that fetch sequentially need a few. */
const maxConnections = 32;
const maxHeaderSize = 65_536;
/** Hop-by-hop headers (RFC 9110, 7.6.1), and those between program and proxy. */
const hopHeaders = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

export async function openFilteringProxy(options: FilteringProxyOptions) {
  const resolve = hostResolver(addressPolicy(options.allowPrivateHosts), options.lookup);
  const credentials = `readback:${randomBytes(24).toString('base64url')}`;
  const expected = Buffer.from(`Basic ${Buffer.from(credentials).toString('base64')}`);
  const traffic = new Traffic(options.maxBytes);

  const isKnown = ({ headers }: IncomingMessage): boolean => {
    const sent = Buffer.from(headers['proxy-authorization'] ?? '');
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  };
  /** Errors: FetchError. */
  const admitted = async (address: string): Promise<Target> => {
    traffic.refuseUsedUp();
    if (!URL.canParse(address)) throw new FetchError('bad_address', 'not an address');
    const url = new URL(address);
    if (url.protocol !== 'http:') throw new FetchError('unsupported_scheme', 'unsupported scheme');
    return { url, connection: connectionTo(await resolve(url.hostname)) };
  };
  const statusOf = (error: unknown): number => {
    const fault = error instanceof FetchError ? error : transportError(error, false);
    traffic.refusal = fault;
    return fault.permanent ? 403 : 502;
  };

  const server = createServer({ maxHeaderSize }, (request, response) => {
    if (!isKnown(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="readback"' }).end();
      return;
    }
    const forwarding = admitted(request.url ?? '').then((target) => forward(target, request, response, traffic));
    forwarding.catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(statusOf(error), { connection: 'close' }).end();
    });
  });
  server.maxConnections = maxConnections;
  server.on('connection', (socket) => traffic.keep(socket));
  server.on('connect', (request: IncomingMessage, near: Socket, first: Buffer) => {
    const answer = (status: string) => near.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
    if (!isKnown(request)) {
      answer('407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="readback"');
      return;
    }
    const tunnelling = admitted(`http://${request.url ?? ''}`).then((target) => tunnel(target, near, first, traffic));
    tunnelling.catch((error: unknown) => answer(`${statusOf(error)} Refused`));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    /** Includes user and password. */
    url: `http://${credentials}@127.0.0.1:${port}`,
    port,
    /** Why the last request was refused, or null. For the program, a refusal looks like a site's answer. */
    refusal: () => traffic.refusal,
    hasGiven: () => traffic.hasGiven,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      traffic.breakOff();
      await closed;
    },
  };
}

interface Target {
  url: URL;
  connection: ReturnType<typeof connectionTo>;
}

class Traffic {
  refusal: FetchError | null = null;
  hasGiven = false;
  readonly #maxBytes: number;
  readonly #sockets = new Set<Duplex>();
  #passed = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy()); // either end may close at any time
  }

  /** Count the bytes of `source`. Above the limit, everything is closed. */
  count(source: NodeJS.ReadableStream): void {
    source.on('data', (chunk: Buffer) => {
      this.#passed += chunk.length;
      if (!this.#isUsedUp()) return;
      this.refusal = this.#tooLarge();
      this.breakOff();
    });
  }

  /** Clear the refusal, unless the limit is reached. */
  given(): void {
    this.hasGiven = true;
    if (!this.#isUsedUp()) this.refusal = null;
  }

  /** Errors: FetchError `too_large` above the limit. */
  refuseUsedUp(): void {
    if (this.#isUsedUp()) throw this.#tooLarge();
  }

  breakOff(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #isUsedUp(): boolean {
    return this.#passed > this.#maxBytes;
  }

  #tooLarge(): FetchError {
    return new FetchError('too_large', `larger than ${this.#maxBytes} bytes`);
  }
}

async function forward(
  { url, connection }: Target,
  request: IncomingMessage,
  response: ServerResponse,
  traffic: Traffic,
): Promise<void> {
  const onward = requestHttp(url, {
    method: request.method ?? 'GET',
    headers: { ...withoutHops(request.headers), host: url.host },
    agent: false,
    maxHeaderSize,
    ...connection,
  });
  onward.once('socket', (socket) => traffic.keep(socket));
  response.once('close', () => onward.destroy());
  traffic.count(request);
  request.pipe(onward);
  const [answer] = (await once(onward, 'response')) as [IncomingMessage];
  traffic.given();
  onward.on('error', () => response.destroy());
  answer.on('error', () => response.destroy());
  traffic.count(answer);
  response.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
  answer.pipe(response);
}

/** `CONNECT`: raw bytes both ways; `first` came with the request. */
async function tunnel({ url, connection }: Target, near: Socket, first: Buffer, traffic: Traffic): Promise<void> {
  const far = connect({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || 80),
    ...connection,
  });
  traffic.keep(far);
  await once(far, 'connect');
  traffic.given();
  near.write('HTTP/1.1 200 Connection established\r\n\r\n');
  traffic.count(near);
  traffic.count(far);
  if (first.length > 0) far.write(first);
  near.pipe(far).pipe(near);
  near.once('close', () => far.destroy());
  far.once('close', () => near.destroy());
}

function withoutHops(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopHeaders.has(name) && !named.includes(name)));
}
