export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Node's longest timer: a longer one would fire at once. */
export const maxTimerMs = 2 ** 31 - 1;
