/** The newest jobs of a kind and state, kept up to date by the event stream. */
import { useEffect } from 'preact/hooks';
import type { JobEventData } from '../../../src/domain/events.ts';
import type { JobListResponse, ListedJob } from '../../../src/domain/job.ts';
import { get, session } from '../../api/client.ts';
import { listenToJobs } from '../../api/events.ts';
import { type Loaded, useLoad } from '../../api/load.ts';

export const mostShown = 200;

export function useJobs(status: string | null, kind: string | null): Loaded<ListedJob[]> {
  const jobs = useLoad(
    async (signal) => {
      const query = { limit: mostShown, subject: true, status, kind };
      return (await get<JobListResponse>('/v1/jobs', query, signal)).jobs as ListedJob[];
    },
    [status ?? '', kind ?? ''],
  );
  const { set, reload } = jobs;
  useEffect(() => {
    if (session.value !== 'in') return;
    let isFirst = true;
    let late: ReturnType<typeof setTimeout> | undefined;
    // Events come in bursts, as fast as jobs end: shown once a frame.
    let waiting = new Map<string, JobEventData>();
    let frame = 0;
    const show = () => {
      frame = 0;
      const changed = waiting;
      waiting = new Map();
      let hasUnknown = false;
      set((list) => {
        const known = new Set(list.map(({ job_id }) => job_id));
        hasUnknown = [...changed.keys()].some((id) => !known.has(id));
        const added = [...changed.values()].filter(({ job_id }) => !known.has(job_id)).reverse();
        return [...added, ...list.map((job) => ({ ...job, ...changed.get(job.job_id) }))]
          .filter((job) => (status === null || job.status === status) && (kind === null || job.kind === kind))
          .slice(0, mostShown);
      });
      // What new ones are about is not in the event.
      if (hasUnknown && late === undefined) {
        late = setTimeout(() => {
          late = undefined;
          reload();
        }, 1000);
      }
    };
    const stop = listenToJobs({
      snapshot: () => {
        if (!isFirst) reload();
        isFirst = false;
      },
      job: (job) => {
        waiting.set(job.job_id, job);
        if (frame === 0) frame = requestAnimationFrame(show);
      },
    });
    return () => {
      stop();
      clearTimeout(late);
      cancelAnimationFrame(frame);
    };
  }, [status, kind, session.value, set, reload]);
  return jobs;
}
