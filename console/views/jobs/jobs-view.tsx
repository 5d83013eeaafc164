/** Jobs: what is being done, live; what failed for good, with its reason and a way to try again. */
import type { JobResponse, JobRetryBatchResponse, ListedJob } from '../../../src/domain/job.ts';
import type { MetricsSummaryResponse } from '../../../src/domain/metrics.ts';
import { call, get } from '../../api/client.ts';
import { streamState } from '../../api/events.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { attempt, notify } from '../../app/notices.tsx';
import { go, linkTo, route } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { ago, count, many, timeOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Badge, Empty, Fault, ViewHead } from '../../ui/parts.tsx';
import { shortUrl } from '../../ui/text.tsx';
import { kindOptions, kindWords, statusKinds } from './job-words.ts';
import { mostShown, useJobs } from './use-jobs.ts';

const statuses = ['pending', 'running', 'failed', 'dead', 'done'] as const;
const summaryEveryMs = 3000;

export function JobsView() {
  const { params } = route.value;
  const status = statuses.find((each) => each === params.get('status')) ?? null;
  const kind = params.get('kind');
  const jobs = useJobs(status, kind);
  const summary = useLoad((signal) => get<MetricsSummaryResponse>('/v1/admin/metrics/summary', {}, signal), []);
  useRepeat(summary.reload, summaryEveryMs, true);
  const counts = summary.data?.jobs.by_status as Record<string, number> | undefined;
  const show = (next: { status?: string | null; kind?: string | null }) =>
    go(linkTo('jobs', '', { status, kind, ...next }));
  const retryAll = () =>
    attempt(async () => {
      const body = { status: 'dead', ...(kind !== null && { kind }), limit: 500 };
      const { retried } = await call<JobRetryBatchResponse>('POST', '/v1/jobs/retry', { body });
      notify(`${many(retried, 'job')} begun again.`);
      jobs.reload();
      summary.reload();
    });
  const dead = counts?.dead ?? 0;
  return (
    <div class="view">
      <ViewHead
        title="Jobs"
        lead={
          <>
            <span class={`live live-${streamState.value}`} />
            {streamState.value === 'live' ? 'Live' : 'Connecting…'}
          </>
        }
      >
        {mayWrite() && dead > 0 && (
          <button type="button" class="button" onClick={retryAll}>
            <Icon name="refresh" />
            Try {kind === null ? many(dead, 'dead job') : 'dead jobs of this kind'} again
          </button>
        )}
      </ViewHead>
      <div class="toolbar">
        <fieldset class="segments" aria-label="State">
          <button type="button" aria-pressed={status === null} onClick={() => show({ status: null })}>
            All
          </button>
          {statuses.map((each) => (
            <button key={each} type="button" aria-pressed={status === each} onClick={() => show({ status: each })}>
              {each}
              {counts !== undefined && <span class="numbers">{count(counts[each] ?? 0)}</span>}
            </button>
          ))}
        </fieldset>
        <label class="select">
          <span class="hidden">Kind</span>
          <select value={kind ?? ''} onChange={({ currentTarget }) => show({ kind: currentTarget.value || null })}>
            <option value="">Every kind</option>
            {kindOptions.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Fault error={jobs.error} retry={jobs.reload} />
      {jobs.data !== undefined &&
        (jobs.data.length === 0 ? (
          <Empty icon="check" title={status === null ? 'No jobs yet' : `No jobs are ${status}`} />
        ) : (
          <ul class="rows">
            {jobs.data.map((job) => (
              <JobRow key={job.job_id} job={job} changed={jobs.reload} />
            ))}
          </ul>
        ))}
      {jobs.data?.length === mostShown && (
        <p class="quiet">These are the newest {mostShown}; states and kinds above show others.</p>
      )}
    </div>
  );
}

function JobRow({ job, changed }: { job: ListedJob; changed: () => void }) {
  const { job_id, kind, status, attempts, max_attempts, last_error, updated_at, subject } = job;
  const retry = () =>
    attempt(async () => {
      await call<JobResponse>('POST', `/v1/jobs/${encodeURIComponent(job_id)}/retry`);
      changed();
    });
  return (
    <li class="row job-row">
      <Badge kind={statusKinds[status]}>{status}</Badge>
      <div class="row-main">
        <p class="row-title">
          {kindWords(kind)}
          {subject && (
            <>
              {' · '}
              <SubjectName subject={subject} />
            </>
          )}
        </p>
        {last_error !== null && (
          <p class={status === 'dead' ? 'row-error' : 'quiet'}>
            <bdi>{last_error}</bdi>
          </p>
        )}
      </div>
      <div class="row-end">
        {attempts > 1 && (
          <span class="numbers quiet">
            attempt {attempts} of {max_attempts}
          </span>
        )}
        <time dateTime={updated_at} title={timeOf(updated_at)}>
          {ago(updated_at)}
        </time>
        {mayWrite() && status === 'dead' && (
          <button type="button" class="button button-small" onClick={retry}>
            <Icon name="refresh" />
            Try again
          </button>
        )}
      </div>
    </li>
  );
}

function SubjectName({ subject }: { subject: NonNullable<ListedJob['subject']> }) {
  const name = <bdi>{subject.title ?? shortUrl(subject.url)}</bdi>;
  return subject.id.startsWith('pg_') ? <a href={linkTo('page', subject.id)}>{name}</a> : name;
}
