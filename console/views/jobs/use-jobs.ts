/** The newest jobs by kind and state, updated by the event stream. */
import { useEffect, useRef } from 'preact/hooks';
import type { JobEventData, JobListResponse, ListedJob } from '../../../src/domain/job.ts';
import { get, session } from '../../api/client.ts';
import { listenToJobs } from '../../api/events.ts';
import { type Loaded, useLoad } from '../../api/load.ts';

export const maxShown = 200;

/** The latest event of each job since the list was requested, the last change at the end. */
type Heard = Map<string, JobEventData>;

export function useJobs(status: string | null, kind: string | null): Loaded<ListedJob[]> {
  const heard = useRef<Heard>(new Map());
  /** Adds the events to the list; they may be older than the list. */
  const brought = (list: readonly ListedJob[], changed: Heard): ListedJob[] => {
    const known = new Set(list.map(({ job_id }) => job_id));
    const added = [...changed.values()].filter(({ job_id }) => !known.has(job_id)).reverse();
    const changedOf = (job: ListedJob) => {
      const latest = changed.get(job.job_id);
      return latest !== undefined && latest.updated_at >= job.updated_at ? { ...job, ...latest } : job;
    };
    return [...added, ...list.map(changedOf)]
      .filter((job) => (status === null || job.status === status) && (kind === null || job.kind === kind))
      .slice(0, maxShown);
  };
  const jobs = useLoad(
    async (signal) => {
      heard.current = new Map();
      const query = { limit: maxShown, subject: true, status, kind };
      const { jobs: list } = await get<JobListResponse>('/v1/jobs', query, signal);
      return brought(list as ListedJob[], heard.current);
    },
    [status ?? '', kind ?? ''],
  );
  const { set, reload } = jobs;
  useEffect(() => {
    if (session.value !== 'in') return;
    let isFirst = true;
    let late: ReturnType<typeof setTimeout> | undefined;
    // Events come in bursts: rendered once per frame.
    let waiting: Heard = new Map();
    let frame = 0;
    const show = () => {
      frame = 0;
      const changed = waiting;
      waiting = new Map();
      let hasUnknown = false;
      set((list) => {
        const next = brought(list, changed);
        hasUnknown = next.some(({ subject }) => subject === undefined);
        return next;
      });
      // Events of new jobs lack their subject.
      if (hasUnknown && late === undefined) {
        late = setTimeout(() => {
          late = undefined;
          reload();
        }, 1000);
      }
    };
    const hear = (job: JobEventData) => {
      for (const map of [waiting, heard.current]) {
        map.delete(job.job_id);
        map.set(job.job_id, job);
      }
      if (frame === 0) frame = requestAnimationFrame(show);
    };
    const stop = listenToJobs({
      snapshot: (list) => {
        // A snapshot does not contain everything missed since the last stream.
        if (!isFirst) reload();
        isFirst = false;
        for (const job of list.jobs.toReversed()) hear(job);
      },
      job: hear,
    });
    return () => {
      stop();
      clearTimeout(late);
      cancelAnimationFrame(frame);
    };
  }, [status, kind, session.value, set, reload]);
  return jobs;
}
