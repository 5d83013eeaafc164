/** Breakers whose log is kept. */
import { type Breakers, createBreakers } from '../../../src/actors/system/breakers.ts';
import type { BreakerPolicy } from '../../../src/machines/breaker.ts';
import { createLog } from '../../../src/telemetry/log.ts';

export function runBreakers(policy: BreakerPolicy, monotonic: () => number): { breakers: Breakers; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({ json_logs: true, log_level: 'info' }, { write: (line) => lines.push(line) });
  return { breakers: createBreakers({ policy, monotonic, log }), lines };
}
