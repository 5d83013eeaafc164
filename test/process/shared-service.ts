/** One running service for all tests of a file: started before the first of them, cleaned up after the last. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { IngestBatchResult } from '../../src/domain/page.ts';
import { type Answer, type CallOptions, RunningService } from './service.ts';

export const readToken = 'process-test-reader-3e6b90';

/** The body of a validation failure: contract "HTTPValidationError". */
export interface Invalid {
  detail: { loc: (string | number)[]; msg: string; type: string }[];
}

export interface SharedService {
  /** Only within tests. */
  readonly service: RunningService;
  readonly isRunning: boolean;
  call<Body>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer<Body>>;
  /** The body of a GET that is answered 200. */
  found<Body>(path: string): Promise<Body>;
  post<Body>(path: string, body?: unknown): Promise<Answer<Body>>;
  /** Add pages and wait until they are indexed; gives their ids in order. */
  add(pages: readonly { url: string; title?: string; body_extracted: string }[]): Promise<string[]>;
}

/** Call at the top of a file. A second token, `readToken`, may only read. */
export function sharedService(env: Record<string, string> = {}): SharedService {
  let running: RunningService | undefined;
  const cleanUps: (() => Promise<void>)[] = [];
  before(async () => {
    running = await RunningService.start(
      { after: (run) => void cleanUps.unshift(run) },
      { SERVICE_AUTH_TOKENS: JSON.stringify([{ name: 'phone', token: readToken, scopes: ['read'] }]), ...env },
    );
  });
  after(async () => {
    for (const run of cleanUps) await run();
  });
  const shared: SharedService = {
    get service() {
      assert.ok(running !== undefined, 'the service is started before the first test');
      return running;
    },
    get isRunning() {
      return running?.pid !== undefined;
    },
    call: (method, path, body, options) => shared.service.call(method, path, body, options),
    found: async <Body>(path: string) => {
      const { status, body } = await shared.call<Body>('GET', path);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      return body;
    },
    post: (path, body) => shared.call('POST', path, body),
    add: async (pages) => {
      const { body } = await shared.post<{ results: IngestBatchResult[] }>('/v1/pages/batch', { pages });
      const ids = body.results.map((result) => ('page_id' in result ? result.page_id : assert.fail(result.outcome)));
      assert.deepEqual(new Set(await shared.service.settled(ids)), new Set(['indexed']));
      return ids;
    },
  };
  return shared;
}
