import { grouped } from '../../compute/structures/grouped.ts';
import type { JobKind, JobListResponse, JobRetryBatchResponse, JobStatus, ListedJob } from '../../domain/job.ts';
import { type Context, get, post } from '../context.ts';
import { type ExitCode, exitCodes, plain, type Style, type Terminal, titled } from '../output.ts';

export interface JobsArguments {
  status?: JobStatus;
  kind?: JobKind;
  limit?: number;
}

const statusStyle: Record<JobStatus, Style> = {
  pending: 'yellow',
  running: 'bold',
  done: 'green',
  failed: 'yellow',
  dead: 'red',
};
/** Contract: jobs of one list, and of one retry. */
const maxListed = 1000;
const maxRetried = 500;

export async function jobsCommand(context: Context, { status, kind, limit = 20 }: JobsArguments): Promise<ExitCode> {
  const { terminal, json } = context;
  const asked = Math.min(limit, maxListed);
  const query = { limit: String(asked), subject: 'true', ...(status && { status }), ...(kind && { kind }) };
  const { jobs } = await get<JobListResponse>(context, `/v1/jobs?${new URLSearchParams(query)}`);
  if (json) terminal.json({ jobs });
  else if (jobs.length === 0) terminal.say('no jobs');
  else sayGroups(terminal, jobs);
  if (jobs.length === asked) terminal.note(`the newest ${asked}; --limit changes the number, max ${maxListed}`);
  return exitCodes.done;
}

function sayGroups(terminal: Terminal, jobs: readonly ListedJob[]): void {
  const groups = grouped(jobs, ({ status, kind, last_error }) => [status, kind, last_error].join('\n'));
  for (const group of groups.values()) {
    const [{ status, kind, last_error }] = group;
    const why = last_error === null ? '' : `: ${plain(last_error, 400)}`;
    terminal.say(`${terminal.style(statusStyle[status], status)} ${plain(kind, 40)} (${group.length})${why}`);
    for (const job of group) terminal.line(`  ${job.job_id}  ${about(job)}`.trimEnd());
  }
}

const about = ({ subject, updated_at }: ListedJob): string =>
  subject == null ? updated_at : titled(subject.title, subject.url);

/** Without ids: dead jobs, newest first, in batches of one request. */
export async function retryCommand(
  context: Context,
  ids: readonly string[],
  { kind, limit = Number.POSITIVE_INFINITY }: Omit<JobsArguments, 'status'>,
): Promise<ExitCode> {
  const { terminal, json } = context;
  const total: JobRetryBatchResponse = { requested: 0, retried: 0, results: [] };
  const retry = async (request: object): Promise<JobRetryBatchResponse['results']> => {
    const { requested, retried, results } = await post<JobRetryBatchResponse>(context, '/v1/jobs/retry', request);
    total.requested += requested;
    total.retried += retried;
    total.results.push(...results);
    terminal.progress(`retried ${total.retried} dead jobs …`);
    return results;
  };
  if (ids.length > 0) {
    for (let from = 0; from < ids.length; from += maxRetried) {
      await retry({ job_ids: ids.slice(from, from + maxRetried) });
    }
  } else {
    // Each batch has older jobs, so jobs that die meanwhile are not retried twice.
    for (let before: string | undefined; total.requested < limit; ) {
      const most = Math.min(maxRetried, limit - total.requested);
      const results = await retry({ ...(kind && { kind }), ...(before && { before }), limit: most });
      before = results.at(-1)?.job_id;
      if (results.length < most) break;
    }
  }
  if (json) terminal.json(total);
  else if (ids.length === 0 && total.requested === 0) terminal.say('no dead jobs');
  else {
    terminal.say(`retried ${total.retried} of ${total.requested} dead jobs`);
    for (const result of total.results) {
      if (result.outcome === 'skipped') terminal.say(`${result.job_id}: ${result.detail}`);
      if (result.outcome === 'not_found') terminal.say(`${plain(result.job_id, 64)}: unknown`);
    }
  }
  return total.retried === total.requested ? exitCodes.done : exitCodes.partly;
}
