/** What hostile clients do: requests whose answers are counted, connections of their own making, and a web site that the service fetches from. */
import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Scope } from '../../test/scope.ts';

export type Right = 'none' | 'read' | 'write';

export interface Reply {
  status: number;
  bytes: number;
  /** The beginning of the body, as much as was wanted. */
  text: string;
}

export class Attacker {
  readonly #base: URL;
  readonly #tokens: Record<Exclude<Right, 'none'>, string>;
  readonly #sockets = new Set<Socket>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 200 });
  /** Answers by status, and `cut` for those that did not come whole. */
  statuses: Record<string, number> = {};

  constructor(url: string, tokens: Record<Exclude<Right, 'none'>, string>) {
    this.#base = new URL(url);
    this.#tokens = tokens;
  }

  /** Send a request and read its answer; a body that is not a text is sent as JSON. */
  async send(right: Right, method: string, path: string, body?: unknown, keep = 0): Promise<Reply> {
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const reply = await new Promise<Reply>((resolve) => {
      const asking = request(new URL(path, this.#base), {
        method,
        agent: this.#agent,
        headers: {
          ...this.#authorization(right),
          ...(sent === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
        },
      });
      asking.once('error', () => resolve({ status: 0, bytes: 0, text: '' }));
      asking.once('response', (response) => {
        let bytes = 0;
        let text = '';
        response.on('data', (data: Buffer) => {
          bytes += data.length;
          if (text.length < keep) text += data;
        });
        const over = () => resolve({ status: response.complete ? (response.statusCode ?? 0) : 0, bytes, text });
        response.once('close', over).once('error', over);
      });
      asking.end(sent);
    });
    this.#count(reply.status === 0 ? 'cut' : String(reply.status));
    return reply;
  }

  /** The answer as JSON. */
  async ask<Body>(right: Right, method: string, path: string, body?: unknown): Promise<Body> {
    const { status, text } = await this.send(right, method, path, body, Number.MAX_SAFE_INTEGER);
    if (status >= 300 || status === 0)
      throw new Error(`${method} ${path.slice(0, 80)}: ${status} ${text.slice(0, 300)}`);
    return JSON.parse(text);
  }

  /** Some requests at once, each with its number; a failure of one is its status. */
  async many(count: number, each: (no: number) => Promise<unknown>, atOnce = count): Promise<void> {
    let next = 0;
    const work = async () => {
      while (next < count) await each(next++);
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, count) }, work));
  }

  /** A connection that sends this and then does as its owner says: reading is paused. */
  async open(text: string): Promise<Socket> {
    const socket = connect(Number(this.#base.port), this.#base.hostname).pause();
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {});
    socket.write(text);
    return socket;
  }

  /** Send this and read until the other side closes the connection; gives how many bytes came. */
  async exchange(text: string): Promise<number> {
    const socket = await this.open(text);
    let bytes = 0;
    let beginning = '';
    socket.on('data', (data: Buffer) => {
      bytes += data.length;
      if (beginning.length < 16) beginning += data.toString('latin1', 0, 16);
    });
    if (!socket.closed) await new Promise((resolve) => socket.resume().once('close', resolve));
    this.#count(/^HTTP\/1\.1 (\d+)/.exec(beginning)?.[1] ?? 'cut');
    return bytes;
  }

  /** A request as it is on the wire. */
  head(right: Right, method: string, path: string, ...headers: readonly string[]): string {
    const { authorization } = this.#authorization(right);
    const own = authorization === undefined ? [] : [`authorization: ${authorization}`];
    return [`${method} ${path} HTTP/1.1`, `host: ${this.#base.host}`, ...own, ...headers, '', ''].join('\r\n');
  }

  /** Leave all connections, and begin to count anew. */
  leave(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#agent.destroy();
    this.statuses = {};
  }

  #authorization(right: Right): { authorization?: string } {
    return right === 'none' ? {} : { authorization: `Bearer ${this.#tokens[right]}` };
  }

  #count(status: string): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }
}

/** A web site on loopback whose pages are made when they are asked for. */
export class HostileSite {
  readonly pages = new Map<string, { type: string; body: () => string }>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(scope: Scope): Promise<HostileSite> {
    const server = createServer((asked, response) => {
      const page = site.pages.get(asked.url ?? '');
      if (page === undefined) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': page.type }).end(page.body());
    });
    const site = new HostileSite(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    scope.after(async () => {
      server.closeAllConnections();
      server.close();
    });
    return site;
  }

  /** Put a page there; gives its address. */
  put(path: string, type: 'html' | 'rss', body: () => string): string {
    this.pages.set(path, { type: type === 'html' ? 'text/html; charset=utf-8' : 'application/rss+xml', body });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }
}
