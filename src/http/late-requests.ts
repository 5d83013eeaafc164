/**
 * Time limits of connections in a process that was held up itself. Node looks at the time in timers, before it reads sockets, and so
 * takes its own delay for the client's: it would reset a connection that was idle and has brought a request, and call one late
 * that has arrived. Sockets are read between timers and immediates: what is unread is read first, and only then is it decided.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** The latest request that each connection brought. */
const latestOf = new WeakMap<Socket, IncomingMessage>();

/** End idle connections only when nothing has arrived on them; note requests for `unlessArrived`. */
export function readBeforeTimeouts(server: Server): void {
  server.on('request', (request) => latestOf.set(request.socket, request));
  server.on('timeout', (socket) => {
    const { bytesRead } = socket;
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy();
    });
  });
}

/** Refuse what the server's parser found wrong with a connection: a late request only when it is not whole after reading. */
export function unlessArrived(error: Error & { code?: string }, socket: Socket, refuse: () => void): void {
  if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
    refuse();
    return;
  }
  const before = latestOf.get(socket);
  const wasWhole = before?.complete === true;
  setImmediate(() => {
    const latest = latestOf.get(socket);
    const hasArrived = latest?.complete === true && (latest !== before || !wasWhole);
    if (!hasArrived) refuse();
  });
}
