/** A clock that is turned by hand: time stands still while code runs, and leaps from timer to timer. */
import type { Clock } from '../../src/providers/clock.ts';

interface Timer {
  at: number;
  run: () => void;
}

/** Let everything that waits for promises go on until it waits for time. */
async function settle(): Promise<void> {
  for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
}

export class HandClock implements Clock {
  #now = 1000;
  readonly #timers = new Set<Timer>();

  monotonic(): number {
    return this.#now;
  }

  wall = (): number => Date.UTC(2026, 0, 1) + this.#now;

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  /** Run everything that is due within the next `ms`, in order. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await settle();
    }
    this.#now = end;
  }
}
