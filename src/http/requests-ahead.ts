/**
 * Requests that a client sends ahead of their answers on one connection (RFC 9112, 9.3.2). Node parses all that it has read before anything
 * else runs, hundreds of them, and takes more while it answers: beyond a few, one is refused and the connection ends after it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { whenOver } from './answer-end.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** No more are under way on one connection: browsers and common clients send one. */
export const mostAhead = 16;
/** Of those that come after the refused one so many are dropped; then the connection is cut, since each of them takes memory. */
const mostDropped = 256;

interface Connection {
  underWay: number;
  /** From the refused one on: its answer is the last. */
  dropped: number;
}

/** Have no more than a few requests of a connection under way. */
export function boundAhead(handle: Handle): Handle {
  const connections = new WeakMap<Socket, Connection>();
  return (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket) ?? { underWay: 0, dropped: 0 };
    connections.set(socket, connection);
    if (connection.dropped === 0 && connection.underWay < mostAhead) {
      connection.underWay++;
      whenOver(response, () => connection.underWay--);
      handle(request, response);
      return;
    }
    if (connection.dropped === 0) refuse(response);
    else if (connection.dropped > mostDropped) socket.destroy();
    connection.dropped++;
  };
}

function refuse(response: ServerResponse): void {
  const detail = `more than ${mostAhead} requests wait for their answers on this connection`;
  const body = JSON.stringify({ detail });
  const fields = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'retry-after': '1',
    connection: 'close',
  };
  response.writeHead(503, fields).end(body);
}
