/** How much bench/fuzz does: `npm run fuzz` sends 100,000 inputs; READBACK_FUZZ_REQUESTS sets another number. */
import fc from 'fast-check';

const { READBACK_FUZZ_REQUESTS: asked, READBACK_FUZZ_MINUTES: minutes } = process.env;
const all = Number(asked ?? 100_000);
const share = (of: number): number => Math.ceil(all * of);

/** Inputs by what takes them. */
export const inputs = {
  routes: share(0.5),
  tools: share(0.15),
  pages: share(0.08),
  feeds: share(0.1),
  imports: share(0.1),
  queries: share(0.07),
};

/** Printed at the end, and by a property that fails. */
export const seed = fc.readConfigureGlobal().seed ?? Date.now() % 2 ** 31;
/** In fewer inputs memory grows by what is loaded once, when the first job of a kind comes. */
export const isLong = all >= 8000;
/** Of each part. A short run leaves out the inputs that have not come by then; a long one fails. */
const timeLimitMs = Number(minutes ?? 20) * 60_000;

/** How a property is checked with so many inputs. An input that is not answered within a minute fails it. */
export const runsOf = (numRuns: number) => ({
  ...{ numRuns, seed, timeout: 60_000 },
  ...{ interruptAfterTimeLimit: timeLimitMs, markInterruptAsFailure: isLong },
});
