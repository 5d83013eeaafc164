/**
 * A program for a network of its own, which it takes down: a subscriber of the event stream whose other side vanishes. Prints how
 * many the server lets go of.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../process/service.ts';
import { reader, testServer } from './test-server.ts';

const heartbeatMs = 100;

const ip = (command: string) => execFileSync('ip', command.split(' '));
ip('link set lo up');

let left = 0;
const { app } = testServer(
  {
    'events.subscribe': () => ({
      snapshot: { jobs: [] },
      take: async (idleMs) => {
        await delay(idleMs);
        return '';
      },
      leave: () => {
        left++;
      },
      ended: new Promise(() => {}),
    }),
  },
  { events: { heartbeat_s: heartbeatMs / 1000 } },
);
await app.listen({ host: '127.0.0.1', port: 0 });
const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
socket.on('error', () => {});
socket.write(`GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${reader}\r\n\r\n`);
await once(socket, 'data');
ip('link set lo down');
await until(() => left > 0, 'the subscriber is let go of');
process.stdout.write(`let go of ${left}`);
process.exit();
