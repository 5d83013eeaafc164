/** A web of feeds and pages on loopback: answers from a table that the test changes, and keeps what was asked. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

export type Respond = (request: { headers: IncomingHttpHeaders; path: string }) => Reply;

export class FeedServer {
  readonly asked: { path: string; headers: IncomingHttpHeaders }[] = [];
  readonly #table = new Map<string, Respond>();
  url = '';

  static async start(t: Pick<TestContext, 'after'>): Promise<FeedServer> {
    const web = new FeedServer();
    const server = createServer((request, response) => {
      const path = request.url ?? '';
      web.asked.push({ path, headers: request.headers });
      const respond = web.#table.get(path.split('?')[0]);
      const reply = respond?.({ headers: request.headers, path }) ?? { status: 404, body: 'nothing here' };
      response.writeHead(reply.status ?? 200, reply.headers ?? {}).end(reply.body ?? '');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    web.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return web;
  }

  serve(path: string, reply: Reply | Respond): void {
    this.#table.set(path, typeof reply === 'function' ? reply : () => reply);
  }

  countOf(path: string): number {
    return this.asked.filter((each) => each.path === path).length;
  }
}

/** An RSS feed of items by path and title. */
export function rss(items: readonly { link: string; title?: string; description?: string; extra?: string }[]): Reply {
  const entries = items.map(
    ({ link, title, description, extra }) =>
      `<item><link>${link}</link>${title === undefined ? '' : `<title>${title}</title>`}${
        description === undefined ? '' : `<description>${description}</description>`
      }${extra ?? ''}</item>`,
  );
  return {
    headers: { 'content-type': 'application/rss+xml' },
    body: `<?xml version="1.0"?><rss version="2.0"><channel><title>A feed</title>${entries.join('')}</channel></rss>`,
  };
}
