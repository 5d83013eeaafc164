/**
 * When the index is tidied and saved: some seconds after its last change, and not beside searches, which would share the processor
 * with it and learn the words of the new segments anew. Who has just saved pages often searches next. What waits costs little:
 * searches look into some small segments more, and after a crash more is brought back from the store.
 */

/** Without a change and without a search for so long, ms. */
export const quietMs = 5000;
/** Searches put it off for no longer than this after the last change, ms. */
const patienceMs = 60_000;

/** `monotonic`: ms. */
export function quietTime(monotonic: () => number) {
  /** Null: nothing has changed since the index was tidied. */
  let changedAt: number | null = null;
  let searchedAt = Number.NEGATIVE_INFINITY;
  return {
    changed(): void {
      changedAt = monotonic();
    },
    searched(): void {
      searchedAt = monotonic();
    },
    /** Whether it is time; after that, not until something changes. */
    take(): boolean {
      if (changedAt === null || monotonic() - changedAt < quietMs) return false;
      if (monotonic() - searchedAt < quietMs && monotonic() - changedAt < patienceMs) return false;
      changedAt = null;
      return true;
    },
    /** What was due has failed: it is due again after another quiet time. */
    again(): void {
      changedAt ??= monotonic();
    },
  };
}
