/**
 * How fetching from the web can fail, each with the sentence that a person reads in `last_error`. Whether another attempt makes
 * sense is a property of the fault, in one table. Messages name no address, no header and no byte of an answer: those may hold
 * secrets, and what is forgotten must not live on in a job.
 */
import { shownCode } from '../domain/error-code.ts';
import { JobError } from '../domain/errors.ts';
import type { Job } from '../domain/job.ts';

export type FetchFault =
  /** A literal address is neither public nor listed. */
  | 'blocked_address'
  /** Every address of a name is neither public nor listed. A name server that answers for all names says so, too. */
  | 'blocked_name'
  /** A redirect that anybody on the way may have sent leads to such an address or name. */
  | 'blocked_redirect'
  /** Neither http nor https. */
  | 'unsupported_scheme'
  | 'too_many_redirects'
  /** What was asked for, or a redirect leads to, is no address. */
  | 'bad_address'
  /** A name server says that there is no such name, or no address of it. */
  | 'no_such_name'
  /** The name could not be looked up. */
  | 'dns'
  /** No connection that is known to be the host's. Its certificate may be wrong, or this machine's clock, or somebody on the way answers. */
  | 'tls'
  /** No connection to the host. */
  | 'unreachable'
  /** No connection to anything: this machine has no network now. An attempt that ends so does not count. */
  | 'offline'
  /** The answer broke off, or is no HTTP. */
  | 'broken_answer'
  /** Packed otherwise than it says, or in a way that was not asked for. */
  | 'bad_encoding'
  | 'too_large'
  | 'timeout'
  | 'http_status'
  /** Not called: the host has asked, by Retry-After, to be left alone for now, or enough others wait for it. An attempt that ends so does not count. */
  | 'host_waits'
  /** What was answered is not the page: a captcha, a question before it, an error in words (src/compute/extraction/recognize-wall.ts). */
  | 'challenge'
  | 'login_wall'
  | 'cookie_wall'
  | 'error_page'
  | 'needs_script'
  /** A kind of content that nothing here can read. */
  | 'unsupported_content'
  | 'unreadable'
  | 'no_text'
  | 'blacklisted'
  /** A program that is needed is not there. */
  | 'program_missing'
  /** It failed in a way that nothing here knows, or wrote what it should not. */
  | 'program_failed'
  /** No video is at the address, or more than one. */
  | 'no_video'
  /** There is a video, but not for this service: removed, private, not shown in this country. */
  | 'video_unavailable'
  /** It has not been shown yet, or goes on. */
  | 'video_unfinished'
  | 'no_captions';

/** Faults that another attempt, however much later, is not expected to mend. Of statuses, 404 and 410 are permanent, too. */
const permanentFaults: ReadonlySet<FetchFault> = new Set<FetchFault>([
  'blocked_address',
  'blocked_name',
  'unsupported_scheme',
  'too_large',
  'challenge',
  'login_wall',
  'cookie_wall',
  'error_page',
  'needs_script',
  'unsupported_content',
  'unreadable',
  'no_text',
  'blacklisted',
  'program_missing',
  'no_video',
  'video_unavailable',
  'no_captions',
]);

/**
 * How often a page is tried whose host cannot be reached, by the fault: with the waits of `reachDelayMs` about a day for a name that
 * does not exist, as those of old bookmarks mostly will not come back, and four for a host that may be down.
 */
const reachTries: ReadonlyMap<FetchFault, number> = new Map([
  ['no_such_name', 14],
  ['dns', 32],
  ['unreachable', 32],
  ['tls', 32],
  ['blocked_redirect', 32],
]);

/** Faults that only somebody out there can cause. */
const answeredFaults: ReadonlySet<FetchFault> = new Set<FetchFault>([
  'broken_answer',
  'timeout',
  'http_status',
  'challenge',
]);

export interface FetchErrorOptions {
  permanent?: boolean;
  /** When the host asked to come back, from now. */
  retryAfterMs?: number | undefined;
  /** The HTTP status, for `http_status`. */
  status?: number;
  cause?: unknown;
}

export class FetchError extends JobError {
  readonly code: FetchFault;
  readonly status: number | undefined;

  constructor(code: FetchFault, message: string, options: FetchErrorOptions = {}) {
    super(message, {
      permanent: options.permanent ?? permanentFaults.has(code),
      ...(options.retryAfterMs === undefined ? {} : { retryAfterMs: options.retryAfterMs }),
      ...(options.cause === undefined ? {} : { cause: options.cause }),
    });
    this.name = 'FetchError';
    this.code = code;
    this.status = options.status;
  }

  /** Whether the attempt counts as not made, and the job is given back: its host, or any, is not asked now. */
  get isPostponed(): boolean {
    return this.code === 'host_waits' || this.code === 'offline';
  }

  /** Tries of a page that end so before it is given up; null where the host was reached, or was not called. */
  get maxReachTries(): number | null {
    return reachTries.get(this.code) ?? null;
  }

  /** Whether it may be so only because there is no network now. */
  get mayBeOffline(): boolean {
    return this.maxReachTries !== null || this.code === 'blocked_name';
  }

  /** Whether something out there has answered. */
  get wasAnswered(): boolean {
    return answeredFaults.has(this.code);
  }
}

/** Whether no other try follows the one that ended so, as `settlement` of `src/actors/jobs/job-actor.ts` will have it. */
export function endsTries(error: FetchError, { attempts, max_attempts, unreached = 0 }: Job): boolean {
  if (error.isPostponed) return false;
  if (error.permanent) return true;
  return error.maxReachTries === null ? attempts >= max_attempts : unreached + 1 >= error.maxReachTries;
}

const tlsCode = /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|EPROTO)/;

/** What a failed connection or a broken answer means. `answered`: there was a connection. */
export function transportError(error: unknown, answered: boolean): FetchError {
  if (error instanceof FetchError) return error;
  const code = shownCode(error);
  if (tlsCode.test(code)) return new FetchError('tls', `TLS failure (${code})`, { cause: error });
  if (answered || code.startsWith('HPE_')) {
    return new FetchError('broken_answer', `the answer broke off or is not HTTP (${code})`, { cause: error });
  }
  return new FetchError('unreachable', `no connection (${code})`, { cause: error });
}
