/** `readback inspect`: a job's or page's stored row, and the events that its state accepts. */
import type { AnyStateMachine } from 'xstate';
import { visitTimes } from '../../compute/structures/visit-times.ts';
import { idOf, numberOf } from '../../domain/ids.ts';
import { laneOf } from '../../domain/lane.ts';
import { jobMachine } from '../../machines/job.ts';
import { pageMachine } from '../../machines/page.ts';
import type { StoreReader } from '../../store/store.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, tell, withStore } from '../context.ts';
import { plain, table } from '../terminal.ts';

interface LegalEvent {
  event: string;
  only_if: string | null;
  /** Null: the state stays. */
  next: string | null;
}

interface Inspection {
  row: Record<string, unknown>;
  next_events: LegalEvent[];
}

export async function inspectCommand(context: Context, kind: 'job' | 'page', id: string): Promise<ExitCode> {
  const inspection = await withStore(context, ({ reader }) =>
    kind === 'job' ? inspectJob(reader, id) : inspectPage(reader, id),
  );
  if (inspection === null) throw new CliError(exitCodes.failed, `no ${kind} ${plain(id, 64)}`);
  return tell(context, inspection, ({ say, style }) => {
    say(style('bold', 'row'));
    const present = Object.entries(inspection.row).filter(([, value]) => value !== undefined);
    for (const line of table(present.map(([name, value]) => [`  ${name}`, plain(shown(value), 400)]))) say(line);
    say(style('bold', 'next valid events'));
    if (inspection.next_events.length === 0) say('  none: this state is final');
    const events = inspection.next_events.map(({ event, only_if, next }) => [
      `  ${event}`,
      `→ ${next ?? 'stays'}`,
      only_if === null ? '' : `if ${only_if}`,
    ]);
    for (const line of table(events)) say(line.trimEnd());
  });
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
    next_events: legalEvents(jobMachine, job.status),
  };
}

function inspectPage(reader: StoreReader, id: string): Inspection | null {
  const no = reader.pages.numberOfId(id);
  if (no === null) return null;
  const page = reader.pages.get(no);
  if (page === undefined) {
    const tombstone = reader.tombstones.get(no);
    return tombstone === undefined ? null : { row: { page_id: id, ...tombstone }, next_events: [] };
  }
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
    next_events: legalEvents(pageMachine, page.status),
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
