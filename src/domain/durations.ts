/** Lengths of time, ms. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Longest that a timer of Node can wait: a longer one would fire at once. */
export const maxTimerMs = 2 ** 31 - 1;
