/** `readback jobs`: the ledger, newest first, and dead jobs sent back. */
import { jobResponseOf } from '../../actors/jobs/records.ts';
import type { JobKind, JobListResponse, JobRetryBatchResponse, JobStatus } from '../../domain/job.ts';
import { type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf, withStore } from '../context.ts';
import { plain, type Style, table } from '../terminal.ts';

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

export async function jobsCommand(context: Context, { status, kind, limit }: JobsArguments): Promise<ExitCode> {
  const { terminal, json } = context;
  const client = clientOf(context, 'read');
  const query = new URLSearchParams({ limit: String(limit), ...(status && { status }), ...(kind && { kind }) });
  const overHttp = context.url !== undefined || (await client.isUp());
  const { jobs } = overHttp
    ? await client.call<JobListResponse>('GET', `/v1/jobs?${query}`)
    : await withStore(context, ({ reader }) => ({
        jobs: reader.jobs.list({ status, kind, limit }).map(jobResponseOf),
      }));
  if (json) terminal.json({ jobs });
  else if (jobs.length === 0) terminal.say('no such jobs');
  else {
    const rows = jobs.map((job) => [
      job.job_id,
      job.kind,
      job.status,
      `${job.attempts}/${job.max_attempts}`,
      job.updated_at,
      job.last_error ?? '',
    ]);
    const lines = table([
      ['job', 'kind', 'status', 'tries', 'changed', 'last error'],
      ...rows.map((row) => row.map((cell) => plain(cell, 160))),
    ]);
    for (const [at, line] of lines.entries()) {
      const style = at === 0 ? 'dim' : statusStyle[jobs[at - 1].status];
      terminal.say(terminal.style(style, line.trimEnd()));
    }
  }
  return exitCodes.done;
}

export interface RetryArguments {
  kind: JobKind | undefined;
  limit: number;
}

/** Without ids: dead jobs, oldest first as the service chooses them. */
export async function retryCommand(
  context: Context,
  ids: readonly string[],
  { kind, limit }: RetryArguments,
): Promise<ExitCode> {
  const { terminal, json } = context;
  const request = ids.length > 0 ? { job_ids: ids } : { ...(kind && { kind }), limit };
  const reply = await clientOf(context, 'write').call<JobRetryBatchResponse>('POST', '/v1/jobs/retry', request);
  if (json) terminal.json(reply);
  else {
    terminal.say(`${reply.retried} of ${reply.requested} dead jobs go back to work`);
    for (const result of reply.results) {
      if (result.outcome === 'skipped') terminal.say(`${result.job_id}: ${result.detail}`);
      if (result.outcome === 'not_found') terminal.say(`${plain(result.job_id, 64)}: unknown`);
    }
  }
  return reply.retried === reply.requested ? exitCodes.done : exitCodes.partly;
}
