/**
 * A process that asks a service for its health again and again, each time on a new connection, as somebody who has no part in what else is
 * done. Told an address and a process it begins; told `worst` it says how long the slowest answers since the last word took, ms:
 * `wall` in all, `held` without the time in which neither process was given a processor, since others work on the machine, too. What
 * the service's main thread computed meanwhile is held in any case.
 */
import { readFileSync } from 'node:fs';
import { get } from 'node:http';

export interface WorstHealth {
  wall: number;
  held: number;
}

const everyMs = 25;
let told = { url: '', pid: 0 };
let worst: WorstHealth = { wall: 0, held: 0 };
let asking: (() => WorstHealth) | null = null;

/** How long the main thread of a process has computed, and has waited for a processor, ms. */
function timesOf(pid: number): { ran: number; waited: number } {
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ').map(Number);
  return { ran: ran / 1e6, waited: waited / 1e6 };
}

/** Begins to measure; the result says what has passed. */
function stopwatch(): () => WorstHealth {
  const [began, service, own] = [performance.now(), timesOf(told.pid), timesOf(process.pid)];
  return () => {
    const [now, serviceNow, ownNow] = [performance.now(), timesOf(told.pid), timesOf(process.pid)];
    const wall = now - began;
    const waited = serviceNow.waited - service.waited + ownNow.waited - own.waited;
    return { wall, held: Math.min(wall, Math.max(serviceNow.ran - service.ran, wall - waited)) };
  };
}

function take({ wall, held }: WorstHealth): void {
  worst = { wall: Math.max(worst.wall, wall), held: Math.max(worst.held, held) };
}

function ask(): Promise<void> {
  const passed = stopwatch();
  asking = passed;
  return new Promise((resolve) => {
    const over = (isRight: boolean) => {
      take(isRight ? passed() : { wall: Number.MAX_SAFE_INTEGER, held: Number.MAX_SAFE_INTEGER });
      asking = null;
      resolve();
    };
    get(`${told.url}/healthz`, { agent: false }, (response) => {
      response.resume().once('end', () => over(response.statusCode === 200));
    }).once('error', () => over(false));
  });
}

async function watch(): Promise<void> {
  for (;;) {
    await ask();
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

process.on('message', (message) => {
  if (message === 'worst') {
    if (asking !== null) take(asking()); // the present answer has taken so long already
    process.send?.(worst);
    worst = { wall: 0, held: 0 };
  } else {
    told = message as typeof told;
    void watch();
  }
});
process.on('disconnect', () => process.exit());
