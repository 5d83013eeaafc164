/** One running service for all tests of a file: started before the first of them, cleaned up after the last. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { IngestBatchResult } from '../../src/domain/page.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { newestFirst } from '../scope.ts';
import { type Document, Documented } from './documented.ts';
import { type Answer, type CallOptions, RunningService } from './service.ts';

export const readToken = 'process-test-reader-3e6b90';

/** The body of a validation failure: contract "HTTPValidationError". */
export interface Invalid {
  detail: { loc: (string | number)[]; msg: string; type: string }[];
}

/** The answer to a page that is new. */
export interface Accepted {
  page_id: string;
  status: string;
}

export const idsOf = ({ results }: { results: readonly { page_id: string }[] }) =>
  results.map(({ page_id }) => page_id);

export interface SharedService {
  /** Only within tests. */
  readonly service: RunningService;
  readonly isRunning: boolean;
  /** An answer that its document does not declare fails. */
  call<Body>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer<Body>>;
  get<Body>(path: string): Promise<Answer<Body>>;
  /** The body of a GET that is answered 200. */
  found<Body>(path: string): Promise<Body>;
  post<Body>(path: string, body?: unknown): Promise<Answer<Body>>;
  /** Add pages and wait until they are indexed; gives their ids in order. */
  add(pages: readonly { url: string; title?: string; body_extracted: string }[]): Promise<string[]>;
  /** Hand in one page that is new; gives its id. */
  addPage(page: Record<string, unknown>): Promise<string>;
  /** The same, and wait until it is indexed. */
  addIndexed(page: Record<string, unknown>): Promise<string>;
  /** The answer of a search that is answered 200. */
  search(request: Record<string, unknown>): Promise<SearchResponse>;
}

/** Call at the top of a file. A second token, `readToken`, may only read. */
export function sharedService(env: Record<string, string> = {}): SharedService {
  let running: RunningService | undefined;
  let documented: Documented | undefined;
  const scope = newestFirst({ after });
  before(async () => {
    running = await RunningService.start(scope, {
      SERVICE_AUTH_TOKENS: JSON.stringify([{ name: 'phone', token: readToken, scopes: ['read'] }]),
      ...env,
    });
  });
  const shared: SharedService = {
    get service() {
      assert.ok(running !== undefined, 'the service is started before the first test');
      return running;
    },
    get isRunning() {
      return running?.pid !== undefined;
    },
    call: async <Body>(method: string, path: string, body?: unknown, options?: CallOptions) => {
      documented ??= new Documented((await shared.service.call<Document>('GET', '/openapi.json')).body);
      const answer = await shared.service.call<Body>(method, path, body, options);
      const type = answer.headers.get('content-type') ?? '';
      documented.at(method, path)?.judge({ status: answer.status, type, body: answer.body });
      return answer;
    },
    get: (path) => shared.call('GET', path),
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
    addPage: async (page) => {
      const { status, body } = await shared.post<Accepted>('/v1/pages', page);
      assert.equal(status, 202, JSON.stringify(body));
      assert.match(body.page_id, /^pg_/);
      assert.deepEqual(body, { page_id: body.page_id, status: 'queued' });
      return body.page_id;
    },
    addIndexed: async (page) => {
      const id = await shared.addPage(page);
      assert.deepEqual(await shared.service.settled([id]), ['indexed']);
      return id;
    },
    search: async (request) => {
      const { status, body } = await shared.post<SearchResponse>('/v1/search', request);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
  };
  return shared;
}
