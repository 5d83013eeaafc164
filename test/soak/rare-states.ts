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

const seen = {
  half_open_breaker: ({ msg, state }: Line) => msg === 'a breaker changed its state' && state === 'half_open',
  rescued_job: ({ msg }: Line) =>
    msg === 'jobs that the process before left running go back' || msg === 'jobs whose lease was over go back',
  lost_lease: ({ msg }: Line) => msg === 'an attempt has lost its lease: it stops',
  rebuilt_index: ({ msg }: Line) =>
    msg === 'index files were lost: rebuilding them beside the service' ||
    msg === 'vectors were lost: bringing them back beside the service' ||
    msg === 'bringing back what was indexed and not saved',
  overflowed_subscriber: ({ msg }: Line) => msg === 'a subscriber of the event stream that took nothing was ended',
  resumed_purge: ({ msg, kinds = [] }: Line) =>
    msg === 'a purge that was interrupted goes on' ||
    (msg === 'jobs that the process before left running go back' && kinds.includes('purge_vectors')),
  replaced_thread: ({ msg }: Line) =>
    /a thread was replaced|a searcher thread was lost|ended with its thread|reaching memory limit/.test(msg),
} as const;

/** `refused_by_quota` is told by its answer, 507. */
export const rareStates = [...(Object.keys(seen) as (keyof typeof seen)[]), 'refused_by_quota'] as const;

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
    for (const [name, isSeen] of Object.entries(seen)) {
      const state = name as RareState;
      if (isSeen(line)) counts[state] = (counts[state] ?? 0) + 1;
    }
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
