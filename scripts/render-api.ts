// docs/api.md from the OpenAPI document of the server. A test compares the file with what this returns.
import { Access } from '../src/access/access.ts';
import { batchBodyLimit, bodyLimit, valueLimit } from '../src/http/json-body.ts';
import { buildServer } from '../src/http/server.ts';
import { createLog } from '../src/telemetry/log.ts';
import { createMetrics } from '../src/telemetry/metrics.ts';
import type { Schema } from './json-schema.ts';

interface Answer {
  content?: Record<string, { schema: Schema }>;
}
interface Operation {
  operationId: string;
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

/** The document of a server that answers nothing. */
export async function openApiDocument(): Promise<Document> {
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
  await app.close();
  return document;
}

const code = (text: string): string => `\`${text}\``;

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return `[${name}](#${name.toLowerCase()})`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((each) => code(String(each))).join(', ');
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.properties !== undefined) {
    return `{ ${Object.entries(schema.properties)
      .map(([name, each]) => `${name}: ${typeOf(each)}`)
      .join('; ')} }`;
  }
  if (schema.format === 'date-time') return 'datetime';
  return schema.type === undefined ? 'any' : [schema.type].flat().join(' or ');
}

function boundsOf(schema: Schema): string {
  const { minimum, exclusiveMinimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties, description } =
    schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  const parts = [
    minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? '' : `at least ${minimum}`,
    exclusiveMinimum === undefined ? '' : `above ${exclusiveMinimum}`,
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : `at most ${maximum}`,
    minLength === undefined ? '' : `at least ${minLength} characters`,
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    minItems === undefined ? '' : `at least ${minItems} items`,
    maxItems === undefined ? '' : `at most ${maxItems} items`,
    maxProperties === undefined ? '' : `at most ${maxProperties} members`,
    maxProperties === undefined ? '' : (description ?? ''),
    schema.default === undefined ? '' : `default ${code(JSON.stringify(schema.default))}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
const row = (...cells: string[]): string => `| ${cells.map(cell).join(' | ')} |`;
const contentOf = (content: Record<string, { schema: Schema }> | undefined): string =>
  Object.values(content ?? {})
    .map(({ schema }) => typeOf(schema))
    .join(' or ');

function statusesByBody({ responses }: Operation): Map<string, string[]> {
  const statuses = new Map<string, string[]>();
  for (const [status, { content }] of Object.entries(responses)) {
    const body = contentOf(content);
    statuses.set(body, [...(statuses.get(body) ?? []), status]);
  }
  return statuses;
}

function operation(method: string, path: string, each: Operation): string {
  const parameters = each.parameters ?? [];
  return [
    `### ${method.toUpperCase()} ${path}`,
    `${each.summary}. Operation ${code(each.operationId)}.${each.description === undefined ? '' : ` ${each.description}`}`,
    ...(parameters.length === 0
      ? []
      : [
          [
            row('Parameter', 'In', 'Type', 'Bounds'),
            row('---', '---', '---', '---'),
            ...parameters.map(({ name, in: place, schema }) =>
              row(code(name), place, typeOf(schema), boundsOf(schema)),
            ),
          ].join('\n'),
        ]),
    ...(each.requestBody === undefined ? [] : [`Body: ${contentOf(each.requestBody.content)}`]),
    [
      row('Status', 'Body'),
      row('---', '---'),
      ...[...statusesByBody(each)].map(([body, statuses]) => row(statuses.join(', '), body)),
    ].join('\n'),
  ].join('\n\n');
}

function component(name: string, schema: Schema): string {
  const fields = Object.entries(schema.properties ?? {}).map(([field, each]) =>
    row(code(field), (schema.required ?? []).includes(field) ? 'yes' : '', typeOf(each), boundsOf(each)),
  );
  const table = [row('Field', 'Required', 'Type', 'Bounds'), row('---', '---', '---', '---'), ...fields].join('\n');
  return [`### ${name}`, fields.length === 0 ? typeOf(schema) : table].join('\n\n');
}

const megabytes = (bytes: number) => `${bytes / 2 ** 20} MB`;
const valuesOf = (limit: number) => valueLimit(limit).toLocaleString('en');

export async function renderApi(): Promise<string> {
  const { paths, components } = await openApiDocument();
  const operations = Object.entries(paths)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, each]) => operation(method, path, each)));
  return `${[
    '# HTTP API',
    'Made by `npm run docs` from the schemas in `src/domain` and `src/http`; the running service serves the same as OpenAPI 3.1 at `/openapi.json`.',
    'Every request needs `Authorization: Bearer <token>` or a session, except `/healthz`, `/readyz`, signing in and pairing ([access.md](access.md)). Bodies are JSON in UTF-8; unknown fields are refused, unknown query parameters ignored, and an empty body stands for `{}`. ' +
      `A body has at most ${megabytes(bodyLimit)} and ${valuesOf(bodyLimit)} values (elements and members), a batch of pages ${megabytes(batchBodyLimit)} and ${valuesOf(batchBodyLimit)}: beyond that the answer is 413.`,
    '## Operations',
    ...operations,
    '## Bodies',
    ...Object.entries(components.schemas).map(([name, schema]) => component(name, schema)),
  ].join('\n\n')}\n`;
}
