/**
 * The states that a service is seldom in, and how its own output tells of them. A soak run that never saw one of them has not tried what
 * happens there, and fails.
 */
import { appendFileSync } from 'node:fs';

/** A line of the service's log; what is no JSON has its text as `msg`. */
interface Line {
  msg: string;
  state?: string;
  kinds?: string[];
}

/** What the sources say then; a test looks for it there. */
export const signs = {
  half_open_breaker: ['a circuit breaker changed its state'],
  rescued_job: ['jobs left running were released', 'jobs with expired leases were released'],
  lost_lease: ['an attempt has lost its lease: it stops'],
  rebuilt_index: [
    'index files were lost: rebuilding them in the background',
    'restoring indexed content that was not saved',
  ],
  overflowed_subscriber: ['a stalled subscriber of the event stream was disconnected'],
  resumed_purge: ['an interrupted purge continues', 'jobs left running were released'],
  replaced_thread: ['a searcher thread was lost', 'a task took too long and ended with its thread'],
} as const;

/** What Node says of a thread that was ended for its memory. */
const outOfMemory = 'reaching memory limit';

function isSeen(state: keyof typeof signs, { msg, state: after, kinds }: Line): boolean {
  if (state === 'replaced_thread' && msg.includes(outOfMemory)) return true;
  if (!signs[state].some((sign) => msg.includes(sign))) return false;
  if (state === 'half_open_breaker') return after === 'half_open';
  return state !== 'resumed_purge' || kinds === undefined || kinds.includes('purge_vectors');
}

const told = Object.keys(signs) as (keyof typeof signs)[];
/** `refused_by_quota` is told by its answer, 507. */
export const rareStates = [...told, 'refused_by_quota'] as const;

export type RareState = (typeof rareStates)[number];

export type RareStateCounts = Partial<Record<RareState, number>>;

/** The file to which tests write what they saw, a line of JSON each; nothing is written where none is named. */
const noteFile = process.env.READBACK_SOAK_NOTES;

export type Note = { rare: RareStateCounts } | { counts: Record<string, number | string> };

export function note(told: Note): void {
  if (noteFile !== undefined) appendFileSync(noteFile, `${JSON.stringify(told)}\n`);
}

/** Note what the output of a service tells of, and that it refused so many pages at its quota. */
export function noteRareStates(output: string, refusedByQuota: number): void {
  if (noteFile !== undefined) note({ rare: { ...rareStatesIn(output), refused_by_quota: refusedByQuota } });
}

export function rareStatesIn(output: string): RareStateCounts {
  const counts: RareStateCounts = {};
  for (const text of output.split('\n')) {
    const line = lineOf(text);
    for (const state of told) if (isSeen(state, line)) counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

function lineOf(text: string): Line {
  if (!text.startsWith('{')) return { msg: text };
  try {
    return JSON.parse(text);
  } catch {
    return { msg: text }; // cut off by a kill
  }
}
