/** A small web on loopback: sites whose answers a test writes itself, and a count of every connection that was made to them. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Scope } from '../scope.ts';

export type Page = (request: IncomingMessage, response: ServerResponse) => void;

export class Site {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections made so far. */
  connections = 0;
  /** Paths asked for, in order. */
  readonly asked: string[] = [];

  private constructor(pages: Record<string, Page>) {
    this.#server = createServer((request, response) => {
      const path = request.url ?? '/';
      this.asked.push(path);
      const page = pages[path] ?? pages[path.split('?')[0] ?? ''] ?? pages['*'];
      if (page === undefined) response.writeHead(404).end('no such page');
      else page(request, response);
    });
    this.#server.on('connection', (socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {}); // a client that leaves early is part of many tests
    });
  }

  /** Pages by path; `*` answers for all others, otherwise they are 404. */
  static async open(scope: Scope, pages: Record<string, Page>, host = '127.0.0.1'): Promise<Site> {
    const site = new Site(pages);
    site.#server.listen(0, host);
    await once(site.#server, 'listening');
    scope.after(async () => {
      for (const socket of site.#sockets) socket.destroy();
      site.#server.close();
      await once(site.#server, 'close');
    });
    return site;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Sockets that are open now. */
  get open(): number {
    return this.#sockets.size;
  }

  url(path = '/', host = '127.0.0.1'): string {
    return `http://${host}:${this.port}${path}`;
  }
}

export function say(body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Page {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
  };
}

export function redirectTo(location: string, status = 302): Page {
  return (_request, response) => {
    // As servers send what is not ASCII: UTF-8, byte by byte.
    response.writeHead(status, { location: Buffer.from(location).toString('latin1') }).end();
  };
}
