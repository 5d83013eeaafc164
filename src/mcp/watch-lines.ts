/** Watches as tools tell of them: in a list, and one by itself. Pure. */
import type { WatchResponse } from '../domain/watch.ts';
import { bytesOf, cut, someOf, told } from './answer.ts';

export const watchListLine = (watch: WatchResponse) =>
  told({
    watch_id: watch.id,
    kind: watch.kind,
    url: cut(watch.url, bytesOf.url),
    title: cut(watch.title, bytesOf.title),
    enabled: watch.enabled,
    last_status: watch.last_status,
    last_error: cut(watch.last_error, bytesOf.reason),
  });

export const watchLine = (watch: WatchResponse) => ({
  ...watchListLine(watch),
  ...told({
    url: cut(watch.url, bytesOf.wholeUrl),
    interval_hours: watch.interval_hours,
    next_run_at: watch.next_run_at,
    last_run_at: watch.last_run_at,
    last_error: cut(watch.last_error, bytesOf.error),
    last_item_count: watch.last_item_count,
    created_at: watch.created_at,
    ...someOf('config', watch.config),
  }),
});
