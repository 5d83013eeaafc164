/** How the tests of fetching fetch, and what they expect of a failure. */
import assert from 'node:assert/strict';
import { FetchError } from '../../src/providers/fetch-error.ts';
import { createWebFetch, type WebFetchOptions } from '../../src/providers/web-fetch.ts';

export const never = new AbortController().signal;

export function fetcher(options: Partial<WebFetchOptions> = {}) {
  return createWebFetch({
    allowPrivateHosts: ['127.0.0.1'],
    perHostGapMs: 0,
    timeoutMs: 600_000,
    maxBytes: 1_000_000,
    userAgent: 'readback/0 (test)',
    ...options,
  });
}

/** The error that a fetch ends with. */
export async function failure(fetched: Promise<unknown>): Promise<FetchError> {
  const error = await fetched.then(
    () => assert.fail('it was answered'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof FetchError, String(error));
  return error;
}

export const loopback = [{ address: '127.0.0.1', family: 4 }];
