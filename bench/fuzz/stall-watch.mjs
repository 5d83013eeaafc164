// Loaded into the service before its own code (NODE_OPTIONS): writes a line into READBACK_FUZZ_STALLS for each time that the event loop was busy for
// long, by the processor time of the main thread. So a machine that is busy with other work causes no stall.
import { appendFileSync, existsSync, openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const { READBACK_FUZZ_STALLS: out } = process.env;
const schedule = `/proc/self/task/${process.pid}/schedstat`;
const lookEveryMs = 20;
/** Below this nothing is written. */
const leastMs = 100;

if (out !== undefined && isMainThread && process.argv[1]?.endsWith('main.js') && existsSync(schedule)) {
  const file = openSync(schedule);
  const text = Buffer.alloc(64);
  // The first number is the time on a processor, ns.
  const busyMs = () => Number(text.toString('latin1', 0, readSync(file, text, 0, text.length, 0)).split(' ')[0]) / 1e6;
  let [busy, wall] = [busyMs(), performance.now()];
  const look = () => {
    const [busyNow, wallNow] = [busyMs(), performance.now()];
    const line = { at: Date.now(), busy_ms: Math.round(busyNow - busy), wall_ms: Math.round(wallNow - wall) };
    if (line.busy_ms >= leastMs) appendFileSync(out, `${JSON.stringify(line)}\n`);
    [busy, wall] = [busyNow, wallNow];
  };
  appendFileSync(out, `${JSON.stringify({ at: Date.now(), busy_ms: 0, wall_ms: 0 })}\n`); // it watches
  setInterval(look, lookEveryMs).unref();
}
