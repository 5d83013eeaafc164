/**
 * A program for a network of its own, of which it takes an address down: of two subscribers of the event stream one vanishes. Prints the
 * addresses of those that the server cuts off.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../process/service.ts';
import { reader, testServer } from './test-server.ts';

const listening = '127.0.0.1';
const vanishing = '10.77.0.2';

const ip = (command: string) => execFileSync('ip', command.split(' '));
ip('link set lo up');
ip(`addr add ${vanishing}/32 dev lo`);

const { app } = testServer(
  null,
  {
    'events.subscribe': () => ({
      snapshot: { jobs: [] },
      take: async (idleMs) => {
        await delay(idleMs);
        return '';
      },
      leave: () => {},
      ended: new Promise(() => {}),
    }),
  },
  { events: { heartbeat_s: 0.1 } },
);
const cut: string[] = [];
app.server.on('connection', (socket) => {
  const from = String(socket.remoteAddress);
  socket.once('close', () => cut.push(from));
});
await app.listen({ host: listening, port: 0 });
for (const localAddress of [listening, vanishing]) {
  const socket = connect({ host: listening, port: (app.server.address() as AddressInfo).port, localAddress });
  socket.on('error', () => {});
  socket.write(`GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${reader}\r\n\r\n`);
  await once(socket, 'data');
  socket.resume();
}
ip(`addr del ${vanishing}/32 dev lo`);
await until(() => cut.length > 0, 'the one that has vanished is cut off');
process.stdout.write(`cut off: ${cut}`);
process.exit();
