/**
 * An HTTP proxy on loopback for one run of another program, so that the address policy holds for that program, too: each host that it
 * asks for is resolved here, and only addresses that the policy allows are connected to. It forwards `CONNECT` (for https) and requests
 * with an absolute address (for http), to whoever knows the user and password in its own address, which are made anew each time. It
 * counts the bytes of both directions and breaks off at a limit. Nothing is kept, nothing is looked into.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  request as requestHttp,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';
import { addressPolicy } from '../compute/web/address-policy.ts';
import { FetchError, transportError } from './fetch-error.ts';
import { answering, hostResolver, type Lookup, nextAddressAfterMs } from './resolve-host.ts';

export interface FilteringProxyOptions {
  /** `fetch.allow_private_hosts`. */
  allowPrivateHosts: readonly string[];
  /** Of all connections together, both directions. */
  maxBytes: number;
  lookup?: Lookup;
}

export interface FilteringProxy {
  /** With user and password. */
  url: string;
  port: number;
  /** Why the last thing that it was asked for was not given, which the program cannot tell from what sites answer; null where it was. */
  refusal(): FetchError | null;
  /** Breaks off whatever is open. */
  close(): Promise<void>;
}

/** Connections of one run at a time; programs that fetch one thing after another need a few. */
const maxConnections = 32;
const maxHeaderSize = 65_536;
/** Of one connection to its next hop (RFC 9110, 7.6.1), and what is between the program and its proxy. */
const hopHeaders = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

export async function openFilteringProxy(options: FilteringProxyOptions): Promise<FilteringProxy> {
  const { maxBytes } = options;
  const resolve = hostResolver(addressPolicy(options.allowPrivateHosts), options.lookup);
  const credentials = `readback:${randomBytes(24).toString('base64url')}`;
  const expected = Buffer.from(`Basic ${Buffer.from(credentials).toString('base64')}`);
  const sockets = new Set<Duplex>();
  let passed = 0;
  let refused: FetchError | null = null;

  const keep = (socket: Duplex): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy()); // either end may leave at any time
  };
  const breakOff = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const count = (source: NodeJS.ReadableStream): void => {
    source.on('data', (chunk: Buffer) => {
      passed += chunk.length;
      if (passed <= maxBytes) return;
      refused = new FetchError('too_large', `larger than ${maxBytes} bytes`);
      breakOff();
    });
  };
  /** Something was given. That the limit is reached stays so. */
  const given = (): void => {
    if (passed <= maxBytes) refused = null;
  };
  const isKnown = ({ headers }: IncomingMessage): boolean => {
    const sent = Buffer.from(headers['proxy-authorization'] ?? '');
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  };
  /** The target, once its host is allowed. Errors: FetchError. */
  const admitted = async (address: string) => {
    if (passed > maxBytes) throw new FetchError('too_large', `larger than ${maxBytes} bytes`);
    if (!URL.canParse(address)) throw new FetchError('bad_address', 'not an address');
    const target = new URL(address);
    if (target.protocol !== 'http:') throw new FetchError('unsupported_scheme', 'unsupported scheme');
    return { target, lookup: answering(await resolve(target.hostname)) };
  };
  /** The status that the program is told. */
  const statusOf = (error: unknown): number => {
    const fault = error instanceof FetchError ? error : transportError(error, false);
    refused = fault;
    return fault.permanent ? 403 : 502;
  };

  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { target, lookup } = await admitted(request.url ?? '');
    const options: RequestOptions & Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
      method: request.method ?? 'GET',
      headers: { ...withoutHops(request.headers), host: target.host },
      agent: false,
      maxHeaderSize,
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
    };
    const onward = requestHttp(target, options);
    onward.once('socket', keep);
    response.once('close', () => onward.destroy());
    count(request);
    request.pipe(onward);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    given();
    onward.on('error', () => response.destroy());
    answer.on('error', () => response.destroy());
    count(answer);
    response.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
    answer.pipe(response);
  };

  const tunnel = async (request: IncomingMessage, near: Duplex, first: Buffer): Promise<void> => {
    const { target, lookup } = await admitted(`http://${request.url ?? ''}`);
    const far = connect({
      host: target.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(target.port || 80),
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
    });
    keep(far);
    await once(far, 'connect');
    given();
    near.write('HTTP/1.1 200 Connection established\r\n\r\n');
    count(near);
    count(far);
    if (first.length > 0) far.write(first);
    near.pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  };

  const server = createServer({ maxHeaderSize }, (request, response) => {
    if (!isKnown(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="readback"' }).end();
      return;
    }
    forward(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(statusOf(error), { connection: 'close' }).end();
    });
  });
  server.maxConnections = maxConnections;
  server.on('connection', keep);
  server.on('connect', (request: IncomingMessage, near: Socket, first: Buffer) => {
    const answer = (status: string) => near.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
    if (!isKnown(request)) {
      answer('407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="readback"');
      return;
    }
    tunnel(request, near, first).catch((error: unknown) => answer(`${statusOf(error)} Refused`));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${credentials}@127.0.0.1:${port}`,
    port,
    refusal: () => refused,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      breakOff();
      await closed;
    },
  };
}

function withoutHops(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopHeaders.has(name) && !named.includes(name)));
}
