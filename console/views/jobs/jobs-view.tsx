/** Live jobs, and dead ones with their error and a retry button. */

import type { MetricsSummaryResponse } from '../../../src/domain/admin.ts';
import type { JobResponse, JobRetryBatchResponse, ListedJob } from '../../../src/domain/job.ts';
import { call, get, inOneDirection } from '../../api/client.ts';
import { streamState } from '../../api/events.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { notify } from '../../app/notices.tsx';
import { go, linkTo, route } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { ago, count, many, timeOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ActButton, Badge, Empty, Fault, ViewHead } from '../../ui/parts.tsx';
import { nameOf } from '../../ui/text.tsx';
import { jobStates, kindOptions, kindWords } from './job-words.ts';
import { maxShown, useJobs } from './use-jobs.ts';

const statuses = ['pending', 'running', 'failed', 'dead', 'done'] as const;
const summaryEveryMs = 3000;
/** The service's maximum per request. */
const retriedAtOnce = 500;

export function JobsView() {
  const { params } = route.value;
  const status = statuses.find((each) => each === params.get('status')) ?? null;
  const kind = kindOptions.find(([each]) => each === params.get('kind'))?.[0] ?? null;
  const jobs = useJobs(status, kind);
  const summary = useLoad((signal) => get<MetricsSummaryResponse>('/v1/admin/metrics/summary', {}, signal), []);
  useRepeat([summary], summaryEveryMs, true);
  const counts = summary.data?.jobs.by_status as Record<string, number> | undefined;
  const show = (next: { status?: string | null; kind?: string | null }) =>
    go(linkTo('jobs', '', { status, kind, ...next }));
  const retryAll = async () => {
    const body = { status: 'dead', ...(kind !== null && { kind }), limit: retriedAtOnce };
    let begun = 0;
    // Jobs that die again are not retried a third time.
    for (let turns = Math.ceil(dead / retriedAtOnce); turns > 0; turns--) {
      const { retried } = await call<JobRetryBatchResponse>('POST', '/v1/jobs/retry', { body });
      begun += retried;
      if (retried < retriedAtOnce) break;
    }
    notify(`${many(begun, 'job')} retried.`);
    jobs.reload();
    summary.reload();
  };
  const dead = counts?.dead ?? 0;
  const changed = (job: JobResponse) =>
    jobs.set((list) => list.map((each) => (each.job_id === job.job_id ? { ...each, ...job } : each)));
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
          <ActButton class="button" act={retryAll}>
            <Icon name="refresh" />
            Try {kind === null ? many(dead, 'failed job') : 'failed jobs of this kind'} again
          </ActButton>
        )}
      </ViewHead>
      <div class="toolbar">
        <fieldset class="segments" aria-label="State">
          <button type="button" aria-pressed={status === null} onClick={() => show({ status: null })}>
            All
          </button>
          {statuses.map((each) => (
            <button key={each} type="button" aria-pressed={status === each} onClick={() => show({ status: each })}>
              {jobStates[each].word}
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
      <Fault
        error={jobs.error ?? summary.error}
        retry={() => {
          jobs.reload();
          summary.reload();
        }}
      />
      {jobs.data !== undefined &&
        (jobs.data.length === 0 ? (
          <Empty icon="check" title={status === null ? 'No jobs yet' : `No jobs are ${jobStates[status].word}`} />
        ) : (
          <ul class="rows">
            {jobs.data.map((job) => (
              <JobRow key={job.job_id} job={job} changed={changed} />
            ))}
          </ul>
        ))}
      {jobs.data?.length === maxShown && (
        <p class="quiet">These are the newest {maxShown}; states and kinds above show others.</p>
      )}
    </div>
  );
}

function JobRow({ job, changed }: { job: ListedJob; changed: (job: JobResponse) => void }) {
  const { job_id, kind, status, attempts, max_attempts, last_error, updated_at, subject } = job;
  const retry = async () => changed(await call<JobResponse>('POST', `/v1/jobs/${encodeURIComponent(job_id)}/retry`));
  return (
    <li class="row job-row">
      <Badge kind={jobStates[status].badge}>{jobStates[status].word}</Badge>
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
            <bdi>{inOneDirection(last_error)}</bdi>
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
          <ActButton class="button button-small" act={retry}>
            <Icon name="refresh" />
            Try again
          </ActButton>
        )}
      </div>
    </li>
  );
}

function SubjectName({ subject }: { subject: NonNullable<ListedJob['subject']> }) {
  const name = <bdi>{nameOf({ title: subject.title, canonical_url: subject.url })}</bdi>;
  return subject.id.startsWith('pg_') ? <a href={linkTo('page', subject.id)}>{name}</a> : name;
}
