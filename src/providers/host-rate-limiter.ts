/**
 * Politeness: one request at a time per host, a gap between two, and none before the time the host requested. Callers
 * get a retry time if the host asked for a long pause or was just unreachable. Above `maxHosts` idle hosts, the ones
 * that are free soonest are dropped, which costs at most one gap.
 */
import type { Clock } from './clock.ts';
import { FetchError } from './fetch-error.ts';

interface Waiter {
  grant: () => void;
  refuse: (error: FetchError) => void;
}

interface Host {
  busy: boolean;
  /** Monotonic, ms: end of the gap. */
  freeAt: number;
  /** Monotonic, ms: end of the pause that the host requested; 0 for none. */
  wishedUntil: number;
  /** Fault behind the pause; null for the host's own request. */
  wish: FetchError | null;
  /** Monotonic, ms: end of the retry times already assigned. */
  bookedUntil: number;
  waiting: Waiter[];
  cancelTimer: () => void;
}

const maxHosts = 1000;
/** Min retry time: a few requests of the waiting callers. */
const leastComebackMs = 1000;

export class HostRateLimiter {
  readonly #hosts = new Map<string, Host>();
  readonly #gapMs: number;
  readonly #clock: Clock;

  constructor(gapMs: number, clock: Clock) {
    this.#gapMs = gapMs;
    this.#clock = clock;
  }

  get size(): number {
    return this.#hosts.size;
  }

  /** Pause a host: by its request (Retry-After), or for a `fault`, which callers then get. Rejects waiting callers. */
  postpone(name: string, ms: number, fault: FetchError | null = null): void {
    const host = this.#hostOf(name);
    const until = this.#clock.monotonic() + ms;
    if (until > host.wishedUntil) {
      host.wishedUntil = until;
      host.wish = fault;
    }
    for (const { refuse } of host.waiting.splice(0)) refuse(this.#sentAway(host));
    this.#advance(name, host);
  }

  /**
   * Resolves with a function that ends the turn. With more than `maxAhead` waiting, rejects with a distinct retry time.
   * Errors: FetchError `host_waits`, or the fault of the pause; the signal's reason.
   */
  take(name: string, signal: AbortSignal, maxAhead: number): Promise<() => void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const host = this.#hostOf(name);
      if (host.wishedUntil > this.#clock.monotonic()) throw this.#sentAway(host);
      if (host.busy && host.waiting.length > maxAhead) throw this.#booked(host);
      const leave = () => {
        host.waiting.splice(host.waiting.indexOf(waiter), 1);
        this.#advance(name, host);
        reject(signal.reason);
      };
      const stay = () => signal.removeEventListener('abort', leave);
      const endTurn = () => {
        host.busy = false;
        host.freeAt = this.#clock.monotonic() + this.#gapMs;
        this.#advance(name, host);
      };
      const waiter = {
        grant: () => {
          stay();
          resolve(endTurn);
        },
        refuse: (error: FetchError) => {
          stay();
          reject(error);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      host.waiting.push(waiter);
      this.#advance(name, host);
    });
  }

  #sentAway({ wishedUntil, wish }: Host): FetchError {
    const retryAfterMs = Math.ceil(wishedUntil - this.#clock.monotonic());
    if (wish !== null) return new FetchError(wish.code, wish.message, { retryAfterMs, cause: wish });
    return new FetchError('host_waits', 'the host has asked to wait', { retryAfterMs });
  }

  #booked(host: Host): FetchError {
    const now = this.#clock.monotonic();
    host.bookedUntil = Math.max(host.bookedUntil, now + leastComebackMs) + this.#gapMs;
    return new FetchError('host_waits', 'others wait for the host', { retryAfterMs: host.bookedUntil - now });
  }

  #hostOf(name: string): Host {
    const known = this.#hosts.get(name);
    if (known !== undefined) return known;
    this.#makeRoom();
    const host: Host = {
      busy: false,
      freeAt: 0,
      wishedUntil: 0,
      wish: null,
      bookedUntil: 0,
      waiting: [],
      cancelTimer: () => {},
    };
    this.#hosts.set(name, host);
    return host;
  }

  #advance(name: string, host: Host): void {
    host.cancelTimer();
    if (host.busy) return;
    const waitMs = freeFrom(host) - this.#clock.monotonic();
    if (waitMs > 0) {
      if (host.waiting.length > 0) host.cancelTimer = this.#clock.after(waitMs, () => this.#advance(name, host));
      return;
    }
    const next = host.waiting.shift();
    if (next === undefined) {
      this.#hosts.delete(name);
      return;
    }
    host.busy = true;
    next.grant();
  }

  #makeRoom(): void {
    if (this.#hosts.size < maxHosts) return;
    const now = this.#clock.monotonic();
    const idle = [...this.#hosts].filter(([, { busy, waiting }]) => !busy && waiting.length === 0);
    for (const [name, host] of idle) if (freeFrom(host) <= now) this.#hosts.delete(name);
    if (this.#hosts.size < maxHosts) return;
    const [soonest] = idle.sort(([, a], [, b]) => freeFrom(a) - freeFrom(b));
    if (soonest !== undefined) this.#hosts.delete(soonest[0]);
  }
}

function freeFrom({ freeAt, wishedUntil }: Host): number {
  return Math.max(freeAt, wishedUntil);
}
