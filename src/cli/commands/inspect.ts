/** `readback inspect`: a job's or page's stored row, its history, and the events that its state accepts. */
import type { AnyStateMachine } from 'xstate';
import { visitTimes } from '../../compute/structures/visit-times.ts';
import { idOf, numberOf } from '../../domain/ids.ts';
import type { Job } from '../../domain/job.ts';
import { laneOf } from '../../domain/lane.ts';
import type { Page } from '../../domain/page.ts';
import { jobMachine } from '../../machines/job.ts';
import { pageMachine } from '../../machines/page.ts';
import type { StoreReader } from '../../store/store.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, withStore } from '../context.ts';
import { plain, table } from '../terminal.ts';

interface Moment {
  at: string;
  what: string;
}

interface LegalEvent {
  event: string;
  only_if: string | null;
  /** Null: the state stays. */
  next: string | null;
}

interface Inspection {
  row: Record<string, unknown>;
  history: Moment[];
  next_events: LegalEvent[];
}

export async function inspectCommand(context: Context, kind: 'job' | 'page', id: string): Promise<ExitCode> {
  const { terminal, json } = context;
  const inspection = await withStore(context, ({ reader }) =>
    kind === 'job' ? inspectJob(reader, id) : inspectPage(reader, id),
  );
  if (inspection === null) throw new CliError(exitCodes.failed, `no ${kind} ${plain(id, 64)}`);
  if (json) {
    terminal.json(inspection);
    return exitCodes.done;
  }
  const heading = (text: string) => terminal.say(terminal.style('bold', text));
  heading('row');
  const present = Object.entries(inspection.row).filter(([, value]) => value !== undefined);
  const rows = present.map(([name, value]) => [`  ${name}`, plain(shown(value), 400)]);
  for (const line of table(rows)) terminal.say(line);
  heading('history');
  for (const { at, what } of inspection.history) terminal.say(`  ${at}  ${plain(what, 400)}`);
  heading('next valid events');
  if (inspection.next_events.length === 0) terminal.say('  none: this state is final');
  const events = inspection.next_events.map(({ event, only_if, next }) => [
    `  ${event}`,
    `→ ${next ?? 'stays'}`,
    only_if === null ? '' : `if ${only_if}`,
  ]);
  for (const line of table(events)) terminal.say(line.trimEnd());
  return exitCodes.done;
}

function inspectJob(reader: StoreReader, id: string): Inspection | null {
  const no = numberOf('job', id);
  const job = no === null ? undefined : reader.jobs.get(no);
  if (job === undefined) return null;
  return {
    row: {
      job_id: id,
      ...job,
      page_no: undefined,
      page_id: job.page_no === null ? null : idOf('page', job.page_no),
      lane: laneOf(job),
      created_at: isoOf(job.created_at),
      updated_at: isoOf(job.updated_at),
      run_at: isoOf(job.run_at),
      lease_until: isoOf(job.lease_until),
    },
    history: momentsOfJob(job),
    next_events: legalEvents(jobMachine, job.status),
  };
}

/** The ledger keeps only the latest row; this derives the past from it. */
function momentsOfJob(job: Job): Moment[] {
  const tries = `attempt ${job.attempts} of ${job.max_attempts}`;
  const error = job.last_error === null ? '' : `: ${job.last_error}`;
  const now: Record<Job['status'], string> = {
    pending: job.attempts === 0 ? 'waits' : `waits after ${tries}${error}`,
    running: `${tries} began`,
    failed: `${tries} failed${error}`,
    done: job.last_error === null ? 'done' : `done${error}`,
    dead: `dead after ${tries}${error}`,
  };
  return [
    { at: isoOf(job.created_at) ?? '', what: `${job.kind} queued` },
    ...(job.updated_at > job.created_at || job.status !== 'pending'
      ? [{ at: isoOf(job.updated_at) ?? '', what: now[job.status] }]
      : []),
    ...(job.status === 'pending' || job.status === 'failed'
      ? [{ at: isoOf(job.run_at) ?? '', what: 'may be claimed' }]
      : []),
    ...(job.status === 'running' ? [{ at: isoOf(job.lease_until) ?? '', what: 'its lease ends, unless renewed' }] : []),
  ];
}

function inspectPage(reader: StoreReader, id: string): Inspection | null {
  const no = reader.pages.numberOfId(id);
  if (no === null) return null;
  const page = reader.pages.get(no);
  if (page === undefined) return tombstoneOf(reader, no, id);
  const job = reader.jobs.get(page.index_job);
  return {
    row: {
      page_id: id,
      ...page,
      no: undefined,
      sections: reader.pages.sections(no).length,
      text_characters: reader.pages.bodyLength(no) ?? null,
      index_job: idOf('job', page.index_job),
      entity_job: page.entity_job === null ? null : idOf('job', page.entity_job),
      vectors: reader.models.all().flatMap((model) => (reader.vectors.has(model.space, no) ? [model.id] : [])),
      first_seen_at: isoOf(page.first_seen_at),
      last_seen_at: isoOf(page.last_seen_at),
      visits: page.visits && visitTimes(page).map(isoOf),
      indexed_at: isoOf(page.indexed_at),
    },
    history: momentsOfPage(page, job),
    next_events: legalEvents(pageMachine, page.status),
  };
}

function momentsOfPage(page: Page, job: Job | undefined): Moment[] {
  const moments: (Moment | null)[] = [
    { at: isoOf(page.first_seen_at) ?? '', what: 'first seen' },
    page.visit_count > 1
      ? { at: isoOf(page.last_seen_at) ?? '', what: `last seen, ${page.visit_count} visits in all` }
      : null,
    ...(job === undefined
      ? []
      : momentsOfJob(job).map(({ at, what }) => ({ at, what: `${idOf('job', job.no)}: ${what}` }))),
    page.indexed_at === null
      ? null
      : { at: isoOf(page.indexed_at) ?? '', what: `indexed, ${page.chunk_count} passages` },
  ];
  return moments.filter((moment) => moment !== null).sort((a, b) => a.at.localeCompare(b.at));
}

function tombstoneOf(reader: StoreReader, no: number, id: string): Inspection | null {
  const tombstone = reader.tombstones.get(no);
  if (tombstone === undefined) return null;
  return {
    row: { page_id: id, ...tombstone },
    history: [{ at: '', what: `deleted; erasure: ${tombstone.state}` }],
    next_events: [],
  };
}

function isoOf(ms: number | null): string | null {
  return ms === null || ms === 0 ? null : new Date(ms).toISOString();
}

function shown(value: unknown): string {
  if (value === null) return '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The events that a state accepts, with guard and next state. */
function legalEvents(machine: AnyStateMachine, status: string): LegalEvent[] {
  const node = machine.states[status];
  if (node === undefined) return [];
  return [...node.transitions.entries()].flatMap(([event, transitions]) =>
    transitions.map(({ guard, target }) => ({
      event,
      only_if:
        guard === undefined ? null : typeof guard === 'string' ? guard : 'type' in guard ? guard.type : guard.name,
      next: target?.[0]?.key ?? null,
    })),
  );
}
