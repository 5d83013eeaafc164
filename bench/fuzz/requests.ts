/** Requests to documented operations, as arbitraries; how one is sent; and which answers it may have. */
import assert from 'node:assert/strict';
import { Agent, request as open } from 'node:http';
import fc from 'fast-check';
import { prototypeKeyPath } from '../../src/domain/prototype-key.ts';
import { readBodyLimit, valueLimit } from '../../src/http/json-body.ts';
import type { Documented, Operation, Parameter } from '../../test/process/documented.ts';
import { documentsLike, importSamples } from './documents.ts';
import {
  type IdName,
  idShapes,
  oneWrong,
  rawBodies,
  strangeSegments,
  strangeValues,
  validOf,
  withIds,
} from './inputs.ts';

/** Whose token is sent. */
export type Caller = 'writer' | 'reader' | 'nobody';

export interface FuzzRequest {
  /** The operation's id. */
  to: string;
  caller: Caller;
  /** Name → how it stands in the path. Ids are placeholders until they are sent. */
  segments: Record<string, string>;
  query: [name: string, text: string][];
  /** JSON, or what is no JSON; of an operation that takes a file, any text; null: none. */
  body: string | null;
  /** Whether nothing was made wrong on purpose. */
  plain: boolean;
}

export interface FuzzAnswer {
  status: number;
  type: string;
  body: unknown;
}

const segmentOf = ({ name }: Parameter): fc.Arbitrary<string> =>
  fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 10_000 }).map((no) => `{{${name}:${no}}}`) }, strangeSegments);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 4000);

function queryOf(
  documented: Documented,
  operation: Operation,
): fc.Arbitrary<{ query: [string, string][]; plain: boolean }> {
  const parameters = operation.parameters.filter((each) => each.in === 'query');
  const valid = fc.record(
    Object.fromEntries(parameters.map(({ name, schema }) => [name, validOf(documented, schema, name)])),
    { requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name) },
  );
  const asText = valid.map((values) =>
    Object.entries(values).map(([name, value]): [string, string] => [name, textOf(value)]),
  );
  if (parameters.length === 0) return fc.constant({ query: [], plain: true });
  const wrong = fc
    .tuple(asText, fc.constantFrom(...parameters), strangeValues, fc.boolean())
    .map(([query, { name }, value, twice]): [string, string][] => [
      ...(twice ? query : query.filter(([each]) => each !== name)),
      [name, textOf(value)],
    ]);
  return fc.oneof(
    asText.map((query) => ({ query, plain: true })),
    wrong.map((query) => ({ query, plain: false })),
  );
}

function bodyOf(documented: Documented, operation: Operation): fc.Arbitrary<{ body: string | null; plain: boolean }> {
  const raw = rawBodies.map((body) => ({ body, plain: false }));
  if (operation.method === 'GET') return fc.constant({ body: null, plain: true });
  if (operation.takesFile) return documentsLike(importSamples).map((file) => ({ body: file.toString(), plain: false }));
  if (operation.body === undefined) return fc.oneof(fc.constant({ body: null, plain: true }), raw);
  const valid = validOf(documented, operation.body, '');
  const json = (value: unknown, plain: boolean) => ({ body: JSON.stringify(value), plain });
  return fc.oneof(
    { weight: 4, arbitrary: valid.map((value) => json(value, true)) },
    { weight: 5, arbitrary: oneWrong(valid).map((value) => json(value, false)) },
    { weight: 1, arbitrary: raw },
  );
}

/** Requests to one operation: valid, with one thing wrong, and hostile. */
export function requestsTo(documented: Documented, operation: Operation): fc.Arbitrary<FuzzRequest> {
  const inPath = operation.parameters.filter((each) => each.in === 'path');
  return fc
    .record({
      caller: fc.oneof(
        { weight: 12, arbitrary: fc.constant('writer' as const) },
        fc.constantFrom('reader' as const, 'nobody' as const),
      ),
      segments: fc.record(Object.fromEntries(inPath.map((each) => [each.name, segmentOf(each)]))),
      query: queryOf(documented, operation),
      body: bodyOf(documented, operation),
    })
    .map(({ caller, segments, query, body }) => ({
      to: operation.id,
      caller,
      segments,
      query: query.query,
      body: body.body,
      plain: query.plain && body.plain,
    }));
}

/** Sends requests with ids of what there is, and learns such ids from the answers. */
export class FuzzClient {
  readonly #base: URL;
  readonly #documented: Documented;
  readonly #tokens: Readonly<Record<Caller, string | null>>;
  readonly #agent = new Agent({ keepAlive: true });
  readonly known = new Map<IdName, string[]>();

  constructor(url: string, documented: Documented, tokens: Readonly<Record<Caller, string | null>>) {
    this.#base = new URL(url);
    this.#documented = documented;
    this.#tokens = tokens;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** The path and body as they are sent. */
  written({ to, segments, query, body }: FuzzRequest): { path: string; body: string | null } {
    const segment = (name: string) => withIds(segments[name], this.known, encodeURIComponent);
    const pairs = query.map(([name, text]): [string, string] => [
      name,
      withIds(text, this.known, (id) => id).toWellFormed(),
    ]);
    const path = this.#documented.operation(to).path.replace(/\{(\w+)\}/g, (_, name: string) => segment(name));
    return {
      path: pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`,
      body: body && withIds(body, this.known, (id) => JSON.stringify(id).slice(1, -1)),
    };
  }

  /** Paths are sent as they are: no client tidies them. Of a stream the beginning is read. */
  async send(
    { to, caller }: Pick<FuzzRequest, 'to' | 'caller'>,
    { path, body }: { path: string; body: string | null },
    headers: Record<string, string> = {},
  ): Promise<FuzzAnswer> {
    const token = this.#tokens[caller];
    const { method, takesFile } = this.#documented.operation(to);
    const type = takesFile ? 'application/octet-stream' : 'application/json';
    const answer = await new Promise<FuzzAnswer>((resolve, reject) => {
      const request = open({
        host: this.#base.hostname,
        port: this.#base.port,
        method,
        path,
        agent: this.#agent,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === null ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const { statusCode: status = 0, headers: answered } = response;
        const answerType = answered['content-type'] ?? '';
        const done = (text: string) =>
          resolve({
            status,
            type: answerType,
            body: answerType.startsWith('application/json') ? JSON.parse(text) : text,
          });
        let text = '';
        response.setEncoding('utf8').on('error', reject);
        response.on('data', (chunk: string) => {
          text += chunk;
          if (answerType !== 'text/event-stream') return;
          done(text);
          request.destroy();
        });
        response.on('end', () => done(text));
      });
      request.end(body ?? undefined);
    });
    this.#learn(answer.body);
    return answer;
  }

  /** Keep the ids in an answer, of each kind the latest hundred. */
  #learn(value: unknown): void {
    if (typeof value === 'string') {
      if (value.length > 64) return;
      for (const [name, shape] of Object.entries(idShapes) as [IdName, RegExp][]) {
        const ids = this.known.get(name) ?? [];
        if (shape.test(value) && !ids.includes(value)) this.known.set(name, [...ids, value].slice(-100));
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const each of Object.values(value)) this.#learn(each);
    }
  }
}

/** Statuses above 499 that are answers and no accidents. */
const typedFailures = [501, 503, 507];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** A longer head than 16 KB is refused before it is read for whom it is; what is sent beside the path is no longer than this. */
const headBytes = 16_384;
const otherHeadBytes = 1024;

/** What is wrong with a body, as far as the document can say; null: that is not known beforehand. */
function bodyFaults(operation: Operation, body: string | null): string[] | null {
  let value: unknown = {};
  try {
    // An empty body stands for an empty object, and a byte order mark for nothing.
    if (body !== null && body !== '') value = JSON.parse(body.replace(/^\ufeff/, ''));
  } catch {
    return [''];
  }
  const prototypeKey = prototypeKeyPath(value, operation.id === 'add_pages' ? 'pages' : undefined);
  if (prototypeKey !== null) return [prototypeKey.join('/')];
  const faults = operation.faultsOf(value);
  return faults.length === 0 ? null : faults;
}

/** Names in a `loc` are cut, so their beginnings are compared. */
const begins = (place: string): string =>
  place
    .split('/')
    .map((part) => part.slice(0, 100))
    .join('/');

/** Values of a body of a route that only reads, whose limit is the lowest but for public routes. */
const fewestValues = valueLimit(readBodyLimit);

/**
 * Hold an answer against the document and the request.
 * Errors: an assertion fails, with what was sent.
 */
export function judge(
  documented: Documented,
  { to, caller, segments }: FuzzRequest,
  sent: { path: string; body: string | null },
  answer: FuzzAnswer,
): void {
  const operation = documented.operation(to);
  const { status, body } = answer;
  if (status === 431) {
    assert.ok(sent.path.length > headBytes - otherHeadBytes, '431 for a head that is not too large');
    return;
  }
  assert.ok(sent.path.length <= headBytes, 'a head that is too large is refused');
  operation.judge(answer);
  assert.ok(status < 500 || typedFailures.includes(status), `${status} is an accident`);
  if (caller === 'nobody' && operation.declares(401) && !operation.isPublic)
    assert.equal(status, 401, 'nobody gets in');
  if (status === 401 || status === 403) return;
  // A client without a token may send little: bytes and values are counted before they are read.
  if (operation.isPublic && status === 413) return;
  // So they are of others, where a body holds more than is allowed where bodies are smallest.
  if (status === 413 && (sent.body?.match(/[[{,]/g)?.length ?? 0) > fewestValues) return;

  const wrongQuery = operation.parameters.flatMap((parameter) => {
    if (parameter.in !== 'query') return [];
    const texts = new URLSearchParams(sent.path.split('?')[1] ?? '').getAll(parameter.name);
    if (texts.length === 0) return parameter.required ? [parameter.name] : [];
    return texts.length > 1 ? [parameter.name] : operation.queryFaultsOf(parameter, texts[0]);
  });
  const hasNoJson = operation.method === 'GET' || operation.takesFile;
  const wrongBody = hasNoJson ? null : bodyFaults(operation, sent.body);
  // What stands in the path may be no path of this route at all, which is told first.
  if (status === 404 && Object.values(segments).some((segment) => !segment.startsWith('{{'))) return;
  if (wrongQuery.length === 0 && wrongBody === null) return;
  assert.equal(status, 422, `${JSON.stringify({ wrongQuery, wrongBody }).slice(0, 500)} was taken`);
  assert.ok(isObject(body) && Array.isArray(body.detail), 'faults of a request are a list');
  const told = body.detail.map(({ loc: [place, ...path] }: { loc: (string | number)[] }) => ({
    place,
    path: path.map((part) => String(part).replace(/…$/, '')).join('/'),
  }));
  const expected =
    wrongQuery.length > 0 ? { place: 'query', paths: wrongQuery } : { place: 'body', paths: wrongBody ?? [] };
  /** A name that a record may not have is told with it. */
  const isAt = (path: string, fault: string) => path === fault || path.startsWith(`${fault}/`);
  assert.ok(
    told.some(({ place, path }) => place === expected.place && expected.paths.some((each) => isAt(path, begins(each)))),
    `the fault at ${JSON.stringify(expected).slice(0, 400)} is not told: ${JSON.stringify(told).slice(0, 400)}`,
  );
}
