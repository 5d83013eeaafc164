/** When an answer is over: sent, given up, or its connection closed. Node tells a pipelined answer that waits for others nothing of the latter. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is to be done when a connection closes, one listener for all of its answers. */
const endingsOf = new WeakMap<Socket, Set<() => void>>();

function endings(socket: Socket): Set<() => void> {
  const known = endingsOf.get(socket);
  if (known !== undefined) return known;
  const all = new Set<() => void>();
  endingsOf.set(socket, all);
  socket.once('close', () => {
    for (const end of all) end();
  });
  return all;
}

/** Call this once when the answer is over. */
export function whenOver(raw: ServerResponse, end: () => void): void {
  const { socket } = raw.req;
  const all = endings(socket);
  const over = () => {
    if (all.delete(over)) end();
  };
  all.add(over);
  raw.once('close', over).once('finish', over);
  if (socket.destroyed) over();
}
