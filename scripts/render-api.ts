// docs/api.md from the OpenAPI document of the server. A test compares the file with what this returns.
import { Access } from '../src/access/access.ts';
import { batchBodyLimit, bodyLimit, readBodyLimit, valueLimit } from '../src/http/json-body.ts';
import { buildServer } from '../src/http/server.ts';
import { createLog } from '../src/telemetry/log.ts';
import { createMetrics } from '../src/telemetry/metrics.ts';
import type { Schema } from './json-schema.ts';

interface Answer {
  content?: Record<string, { schema: Schema }>;
}
interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, Answer>;
}
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** The document of a server that answers nothing, and the scope of each route: `METHOD path` to scope. */
async function describedServer(): Promise<{ document: Document; scopes: Map<string, string> }> {
  const refuse = () => Promise.reject(new Error('this server only describes itself'));
  const log = createLog({ json_logs: true, log_level: 'silent' });
  const app = buildServer({
    askOf: () => refuse,
    readiness: refuse,
    access: new Access({
      operatorTokens: () => [],
      libraries: new Set(),
      file: { records: null, save: async () => {} },
      log,
    }),
    consoleDir: '/nowhere',
    log,
    metrics: createMetrics(),
    version: '0.0.0',
    bind_host: '127.0.0.1',
    allowed_hosts: [],
    allowed_origins: [],
    events: { heartbeat_s: 15 },
    mcp: { enable_mutating_tools: false },
    shownSettings: () => ({ settings: {}, mutability: {} }),
    backups: { make: refuse, list: refuse },
    capabilities: async () => ({ yt_dlp: null, transcription: { kind: null, detail: '', ffmpeg: false } }),
  });
  await app.ready();
  const document: Document = JSON.parse(JSON.stringify(app.swagger()));
  const scopes = new Map(app.routeTable.map(({ method, url, scope }) => [`${method} ${url}`, scope]));
  await app.close();
  return { document, scopes };
}

export const openApiDocument = async (): Promise<Document> => (await describedServer()).document;

const cell = (text: string): string => text.replaceAll('|', '\\|');
const row = (...cells: string[]): string => `| ${cells.map(cell).join(' | ')} |`;
const thousands = (number: number): string => number.toLocaleString('en');
const isRequired = ({ required = [] }: Schema, field: string): boolean => required.includes(field);

/** The type of a field; objects in it as `{…}`. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(String).join('/');
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.properties !== undefined) return `{ ${answered(schema)} }`;
  if (schema.format === 'date-time') return 'datetime';
  return schema.type === undefined ? 'any' : [schema.type].flat().join(' or ');
}

function boundsOf(schema: Schema): string {
  const { minimum, exclusiveMinimum, maximum, minLength, maxLength, minItems, maxItems } =
    schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  const least = [minimum, minLength, minItems].find((each) => each !== undefined && each > Number.MIN_SAFE_INTEGER);
  const most = [maximum, maxLength, maxItems].find((each) => each !== undefined && each < 2 ** 31 - 1);
  const range = `${least ?? ''}–${most === undefined ? '' : thousands(most)}`;
  return [
    exclusiveMinimum === undefined ? '' : ` >${exclusiveMinimum}`,
    range === '–' ? '' : ` ${range}`,
    schema.default === undefined ? '' : `=${JSON.stringify(schema.default)}`,
  ].join('');
}

const allOf = (schema: Schema, one: (field: string, each: Schema) => string): string =>
  Object.entries(schema.properties ?? {})
    .map(([field, each]) => one(field, each))
    .join(', ');

/** The fields of a request, with types and bounds; a star marks those that are required. */
const sent = (schema: Schema): string =>
  allOf(
    schema,
    (field, each) => `\`${field}\`${isRequired(schema, field) ? '*' : ''} ${typeOf(each)}${boundsOf(each)}`,
  );

/** The fields of an answer, with the types of what is in them. */
const answered = (schema: Schema): string =>
  allOf(schema, (field, each) => {
    const type = typeOf(each);
    return /[A-Z{]|list/.test(type) ? `\`${field}\` ${type}` : `\`${field}\``;
  });

const contentOf = (content: Record<string, { schema: Schema }> | undefined): string =>
  Object.values(content ?? {})
    .map(({ schema }) => typeOf(schema))
    .join(' or ');

/** The answers of an operation, without the errors that every route has. */
function answersOf({ responses }: Operation): string {
  const statuses = new Map<string, string[]>();
  for (const [status, { content }] of Object.entries(responses)) {
    const body = contentOf(content);
    const isError = body === 'ErrorResponse' || body === 'HTTPValidationError';
    if (isError && ['401', '403', '413', '422', '503'].includes(status)) continue;
    const shown = isError ? '' : body;
    statuses.set(shown, [...(statuses.get(shown) ?? []), status]);
  }
  return [...statuses].map(([body, each]) => `${each.join(', ')} ${body}`.trim()).join('; ');
}

function operation(method: string, path: string, each: Operation, scope = ''): string {
  const query = (each.parameters ?? []).filter(({ in: place }) => place === 'query');
  const takes = [
    ...query.map(
      ({ name, required, schema }) => `\`${name}\`${required ? '*' : ''} ${typeOf(schema)}${boundsOf(schema)}`,
    ),
    ...(each.requestBody === undefined ? [] : [contentOf(each.requestBody.content)]),
  ];
  const does = each.description === undefined ? each.summary : `${each.summary}. ${each.description}`;
  return row(`\`${method.toUpperCase()} ${path}\``, scope, does, takes.join(', '), answersOf(each));
}

function refsIn(value: unknown): string[] {
  const text = JSON.stringify(value) ?? '';
  return Array.from(text.matchAll(/#\/components\/schemas\/(\w+)/g), ([, name]) => name);
}

const megabytes = (bytes: number) => `${bytes / 2 ** 20} MB`;
const valuesOf = (limit: number) => thousands(valueLimit(limit));

export async function renderApi(): Promise<string> {
  const { document, scopes } = await describedServer();
  const { paths, components } = document;
  const operations = Object.entries(paths)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, each]) => ({ method, path, each })));
  const tags = [...new Set(operations.map(({ each }) => each.tags[0]))].sort();
  const requests = new Set(operations.flatMap(({ each }) => refsIn(each.requestBody)));
  for (const name of requests) for (const inside of refsIn(components.schemas[name])) requests.add(inside);
  const bodies = Object.entries(components.schemas);
  const listed = (title: string, chosen: typeof bodies, fields: (schema: Schema) => string) => [
    `### ${title}`,
    chosen
      .map(([name, schema]) => `- **${name}**: ${schema.properties === undefined ? typeOf(schema) : fields(schema)}`)
      .join('\n'),
  ];
  return `${[
    '# HTTP API',
    'Made by `npm run docs` from the schemas in the code. The running service serves the same, with every type, as OpenAPI 3.1 at `/openapi.json`.',
    'Every request needs `Authorization: Bearer TOKEN` or a session ([access.md](access.md)), except `/healthz`, `/readyz`, signing in and pairing. Bodies are JSON in UTF-8. Unknown fields are refused, unknown query parameters are ignored, an empty body stands for `{}`. Datetimes need an offset.',
    [
      '```sh',
      'curl -s http://127.0.0.1:8000/v1/pages -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\',
      `  -d '{"url": "https://example.org/steam", "body_html": "<title>Steam</title><p>A governor keeps an engine from running away.</p>"}'`,
      'curl -s http://127.0.0.1:8000/v1/search -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\',
      `  -d '{"query": "what keeps an engine from going too fast", "k": 5}'`,
      '```',
    ].join('\n'),
    'Adding a page returns 202 when it is stored; indexing follows. Its status is `queued`, `indexing`, `indexed`, `failed` (an attempt failed and is retried) or `dead` (retry its job by hand); `last_error` has the reason. Adding a known address counts a visit and returns 200.',
    '## Errors',
    'An error has the body ErrorResponse: `{"detail": "…"}`. Every route may answer 401 (no valid token), 403 (the token lacks the scope, or the Host or Origin is not allowed), 413 (body too large), 422 (invalid; HTTPValidationError) and 503 (try again later, after `Retry-After`). The tables list the other answers.',
    `A body has at most ${megabytes(bodyLimit)} and ${valuesOf(bodyLimit)} values (elements and members); a batch of pages ${megabytes(batchBodyLimit)} and ${valuesOf(batchBodyLimit)}; on a route that only reads ${megabytes(readBodyLimit)} and ${valuesOf(readBodyLimit)}.`,
    '## Operations',
    'A star marks what is required; `1–100=10` means from 1 to 100, 10 by default.',
    ...tags.flatMap((tag) => [
      `### ${tag === 'mcp' ? 'MCP' : `${tag[0].toUpperCase()}${tag.slice(1)}`}`,
      [
        row('Request', 'Scope', 'Does', 'Takes', 'Answers'),
        '|---|---|---|---|---|',
        ...operations
          .filter(({ each }) => each.tags[0] === tag)
          .map(({ method, path, each }) =>
            operation(method, path, each, scopes.get(`${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`)),
          ),
      ].join('\n'),
    ]),
    '## Bodies',
    ...listed(
      'Sent',
      bodies.filter(([name]) => requests.has(name)),
      sent,
    ),
    ...listed(
      'Answered',
      bodies.filter(([name]) => !requests.has(name)),
      answered,
    ),
  ].join('\n\n')}\n`;
}
