/** Faults of fetching, with sentences for `last_error`: no address, header or content, as jobs outlive a forget. */
import { JobError, shownCode } from '../domain/errors.ts';
import type { Job } from '../domain/job.ts';
import type { PageFacts } from '../domain/page-facts.ts';

interface FaultRule {
  /** No later attempt can fix it. Of statuses, 404 and 410 are also permanent. */
  isPermanent?: true;
  /** Attempts while a host is unreachable: with `reachDelayMs` a day for a missing name, four days for others. */
  reachTries?: number;
  /** Whether the fault proves an answer from outside. */
  isAnswer?: true;
}

const faults = {
  /** A literal address that is neither public nor listed. */
  blocked_address: { isPermanent: true },
  /** All addresses of a name are neither public nor listed. Some name servers give such an answer for all names. */
  blocked_name: { isPermanent: true },
  /** A forgeable redirect leads to such an address or name. */
  blocked_redirect: { reachTries: 32 },
  unsupported_scheme: { isPermanent: true },
  too_many_redirects: {},
  bad_address: {},
  no_such_name: { reachTries: 14 },
  dns: { reachTries: 32 },
  /** No authenticated connection: a wrong certificate, a wrong clock, or an interceptor. */
  tls: { reachTries: 32 },
  unreachable: { reachTries: 32 },
  /** This machine has no network. The attempt does not count. */
  offline: {},
  /** The answer ended early, or is not HTTP. */
  broken_answer: { isAnswer: true },
  /** A wrong or unrequested encoding. */
  bad_encoding: {},
  too_large: { isPermanent: true },
  timeout: { isAnswer: true },
  http_status: { isAnswer: true },
  /** The host asked to wait (Retry-After), or its queue is full. The attempt does not count. */
  host_waits: {},
  /** A captcha, a consent page or an error text instead of the page (src/compute/extraction/recognize-wall.ts). */
  challenge: { isPermanent: true, isAnswer: true },
  login_wall: { isPermanent: true },
  cookie_wall: { isPermanent: true },
  error_page: { isPermanent: true },
  needs_script: { isPermanent: true },
  unsupported_content: { isPermanent: true },
  unreadable: { isPermanent: true },
  no_text: { isPermanent: true },
  blacklisted: { isPermanent: true },
  program_missing: { isPermanent: true },
  /** An unknown failure, or invalid output. */
  program_failed: {},
  /** No video at the address, or several. */
  no_video: { isPermanent: true },
  /** The video is removed, private, or blocked in this country. */
  video_unavailable: { isPermanent: true },
  /** Not yet shown, or still live. */
  video_unfinished: {},
  no_captions: { isPermanent: true },
} satisfies Record<string, FaultRule>;
export type FetchFault = keyof typeof faults;

const ruleOf = (code: FetchFault): FaultRule => faults[code];

export interface FetchErrorOptions {
  permanent?: boolean;
  /** Requested by the host, from now. */
  retryAfterMs?: number | undefined;
  status?: number;
  /** Facts about the page from an answer without text. */
  said?: PartialFacts;
  cause?: unknown;
}

export interface PartialFacts extends PageFacts {
  title: string | null;
}

export class FetchError extends JobError {
  readonly code: FetchFault;
  readonly status: number | undefined;
  readonly said: PartialFacts | undefined;

  constructor(code: FetchFault, message: string, options: FetchErrorOptions = {}) {
    super(message, { ...options, permanent: options.permanent ?? ruleOf(code).isPermanent === true });
    this.name = 'FetchError';
    this.code = code;
    this.status = options.status;
    this.said = options.said;
  }

  get isPostponed(): boolean {
    return this.code === 'host_waits' || this.code === 'offline';
  }

  /** Max attempts for an unreachable host. Null if the host was reached or not called. */
  get maxReachTries(): number | null {
    return ruleOf(this.code).reachTries ?? null;
  }

  get mayBeOffline(): boolean {
    return this.maxReachTries !== null || this.code === 'blocked_name';
  }

  get wasAnswered(): boolean {
    return ruleOf(this.code).isAnswer === true;
  }
}

/** Whether this was the last attempt, by the rule of `settlement` in `src/actors/system/job-actor.ts`. */
export function endsTries(error: FetchError, { attempts, max_attempts, unreached = 0 }: Job): boolean {
  if (error.isPostponed) return false;
  if (error.permanent) return true;
  return error.maxReachTries === null ? attempts >= max_attempts : unreached + 1 >= error.maxReachTries;
}

const tlsCode = /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|EPROTO)/;

/** Maps a connection error to a fault. `answered`: whether a connection existed. */
export function transportError(error: unknown, answered: boolean): FetchError {
  if (error instanceof FetchError) return error;
  const code = shownCode(error);
  if (tlsCode.test(code)) return new FetchError('tls', `TLS failure (${code})`, { cause: error });
  if (answered || code.startsWith('HPE_')) {
    return new FetchError('broken_answer', `the answer broke off or is not HTTP (${code})`, { cause: error });
  }
  return new FetchError('unreachable', `no connection (${code})`, { cause: error });
}
