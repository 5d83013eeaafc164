/** Something that is done every so many ms, until it is stopped: injected, so that tests need no timer. */
export type Every = (ms: number, run: () => void) => () => void;

export const everyMs: Every = (ms, run) => {
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
};
