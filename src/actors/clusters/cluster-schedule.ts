/** When clustering starts by itself: after a quiet time with enough new pages, and by the clock. */
import { Cron } from 'croner';

export interface IdleState {
  now: number;
  /** When pages last came, ms. */
  activeAt: number;
  pages: number;
  newPages: number;
}

export interface IdleSettings {
  idleMinutes: number;
  minPages: number;
  minNewPages: number;
}

const minuteMs = 60_000;

export function isIdleRunDue({ now, activeAt, pages, newPages }: IdleState, settings: IdleSettings): boolean {
  if (now - activeAt < settings.idleMinutes * minuteMs) return false;
  return pages >= settings.minPages && newPages >= settings.minNewPages;
}

/** The next time after `from`, ms, that a cron expression names; null where there is none. Errors: throws for a bad expression. */
export function nextCronTime(expression: string, from: number): number | null {
  return new Cron(expression, { paused: true }).nextRun(new Date(from))?.getTime() ?? null;
}
