/** Breakers under a parent of their own, as the supervisor would run them. */
import { createActor, createMachine } from 'xstate';
import { type Breakers, createBreakers } from '../../../src/actors/system/breakers.ts';
import type { BreakerPolicy } from '../../../src/machines/breaker.ts';
import { createLog } from '../../../src/telemetry/log.ts';

export interface RunningBreakers {
  breakers: Breakers;
  /** What the parent was told. */
  told: string[];
  /** Ask the child to stop, as the supervisor does. */
  stop(): void;
  lines: string[];
}

export function runBreakers(policy: BreakerPolicy, monotonic: () => number): RunningBreakers {
  const told: string[] = [];
  const lines: string[] = [];
  const log = createLog({ json_logs: true, log_level: 'info' }, { write: (line) => lines.push(line) });
  const breakers = createBreakers({ policy, monotonic, log });
  const parent = createActor(
    createMachine({
      invoke: { id: 'breakers', src: breakers.logic },
      on: { '*': { actions: ({ event }) => told.push(event.type) } },
    }),
  );
  parent.start();
  const stop = () => parent.getSnapshot().children.breakers?.send({ type: 'stop' });
  return { breakers, told, stop, lines };
}
