/**
 * When the index is maintained and saved: some seconds after its last change, and not beside searches, which would share the processor
 * with it and learn the words of the new segments anew. Who has just saved pages often searches next. What waits costs little:
 * searches look into some small segments more, and after a crash more is brought back from the store.
 */

/** Without a change and without a search for so long, ms. */
export const idleMs = 5000;
/** Searches put it off for no longer than this after the first change, ms. */
const patienceMs = 60_000;

export type IdleDetector = ReturnType<typeof idleDetector>;

/** `monotonic`: ms. */
export function idleDetector(monotonic: () => number) {
  /** The first and the last change since the index was maintained; null: nothing has changed. */
  let dueSince: number | null = null;
  let changedAt = 0;
  let searchedAt = Number.NEGATIVE_INFINITY;
  return {
    changed(): void {
      changedAt = monotonic();
      dueSince ??= changedAt;
    },
    searched(): void {
      searchedAt = monotonic();
    },
    /** Whether it is time; after that, not until something changes. */
    take(): boolean {
      if (dueSince === null || monotonic() - changedAt < idleMs) return false;
      if (monotonic() - searchedAt < idleMs && monotonic() - dueSince < patienceMs) return false;
      dueSince = null;
      return true;
    },
    /** What was due has failed: it is due again after another quiet time. */
    again(): void {
      if (dueSince === null) this.changed();
    },
  };
}
