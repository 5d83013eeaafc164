/** `readback jobs`: the ledger, newest first, and dead jobs sent back. */
import { jobResponseOf, jobSubjectOf } from '../../actors/jobs/queries.ts';
import type { JobKind, JobListResponse, JobRetryBatchResponse, JobStatus, ListedJob } from '../../domain/job.ts';
import { type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf, withStore } from '../context.ts';
import { titled } from '../page-lines.ts';
import { plain, type Style, type Terminal } from '../terminal.ts';
import { fitted } from '../text-width.ts';

export interface JobsArguments {
  status: JobStatus | undefined;
  kind: JobKind | undefined;
  limit: number;
}

const statusStyle: Record<JobStatus, Style> = {
  pending: 'yellow',
  running: 'bold',
  done: 'green',
  failed: 'yellow',
  dead: 'red',
};
/** Contract: jobs of one list, and of one retry. */
const mostListed = 1000;
const mostRetried = 500;

export async function jobsCommand(context: Context, { status, kind, limit }: JobsArguments): Promise<ExitCode> {
  const { terminal, json } = context;
  const client = clientOf(context, 'read');
  const asked = Math.min(limit, mostListed);
  const overHttp = context.url !== undefined || (await client.isUp());
  const query = { limit: String(asked), subject: 'true', ...(status && { status }), ...(kind && { kind }) };
  const { jobs } = overHttp
    ? await client.call<JobListResponse>('GET', `/v1/jobs?${new URLSearchParams(query)}`)
    : await withStore(context, ({ reader }) => ({
        jobs: reader.jobs
          .list({ status, kind, limit: asked })
          .map((job) => ({ ...jobResponseOf(job), subject: jobSubjectOf(reader, job) })),
      }));
  if (json) terminal.json({ jobs });
  else if (jobs.length === 0) terminal.say('no such jobs');
  else sayGroups(terminal, jobs);
  if (jobs.length === asked) terminal.note(`the newest ${asked}; --limit shows more or fewer, ${mostListed} at most`);
  return exitCodes.done;
}

/** Jobs of one kind that are where they are for one reason, under a line that says so. */
function sayGroups(terminal: Terminal, jobs: readonly ListedJob[]): void {
  const groups = new Map<string, ListedJob[]>();
  for (const job of jobs) {
    const key = [job.status, job.kind, job.last_error].join('\n');
    groups.set(key, [...(groups.get(key) ?? []), job]);
  }
  for (const group of groups.values()) {
    const [{ status, kind, last_error }] = group;
    const why = last_error === null ? '' : `: ${plain(last_error, 400)}`;
    terminal.say(`${terminal.style(statusStyle[status], status)} ${plain(kind, 40)} (${group.length})${why}`);
    for (const job of group) terminal.say(fitted(`  ${job.job_id}  ${about(job)}`.trimEnd(), terminal.columns));
  }
}

function about({ subject, updated_at }: ListedJob): string {
  if (subject == null) return updated_at;
  return titled(subject.title, subject.url);
}

export interface RetryArguments {
  kind: JobKind | undefined;
  /** Of those chosen by the service; all of them unless given. */
  limit: number | undefined;
}

/** Without ids: dead jobs, newest first, as many as one request may have at a time. */
export async function retryCommand(
  context: Context,
  ids: readonly string[],
  { kind, limit = Number.POSITIVE_INFINITY }: RetryArguments,
): Promise<ExitCode> {
  const { terminal, json } = context;
  const client = clientOf(context, 'write');
  const total: JobRetryBatchResponse = { requested: 0, retried: 0, results: [] };
  const retry = async (request: object): Promise<JobRetryBatchResponse['results']> => {
    const { requested, retried, results } = await client.call<JobRetryBatchResponse>(
      'POST',
      '/v1/jobs/retry',
      request,
      context.signal,
    );
    total.requested += requested;
    total.retried += retried;
    total.results.push(...results);
    terminal.progress(`${total.retried} dead jobs go back to work …`);
    return results;
  };
  if (ids.length > 0) {
    for (let from = 0; from < ids.length; from += mostRetried) {
      await retry({ job_ids: ids.slice(from, from + mostRetried) });
    }
  } else {
    // Those that die again meanwhile are not sent back a second time: each batch is of older ones.
    for (let before: string | undefined; total.requested < limit; ) {
      const most = Math.min(mostRetried, limit - total.requested);
      const results = await retry({ ...(kind && { kind }), ...(before && { before }), limit: most });
      before = results.at(-1)?.job_id;
      if (results.length < most) break;
    }
  }
  if (json) terminal.json(total);
  else if (ids.length === 0 && total.requested === 0) terminal.say('there are no dead jobs');
  else {
    terminal.say(`${total.retried} of ${total.requested} dead jobs go back to work`);
    for (const result of total.results) {
      if (result.outcome === 'skipped') terminal.say(`${result.job_id}: ${result.detail}`);
      if (result.outcome === 'not_found') terminal.say(`${plain(result.job_id, 64)}: unknown`);
    }
  }
  return total.retried === total.requested ? exitCodes.done : exitCodes.partly;
}
