/**
 * Values for JSON Schemas: valid ones, and valid ones with one thing wrong. Names of fields and parameters say what else a text
 * should be: an address, or an id of something that exists, which is written as a placeholder until it is sent.
 */
import fc from 'fast-check';
import type { Schema } from '../../scripts/json-schema.ts';
import type { Documented } from '../../test/process/documented.ts';

/** Kinds of ids: the field or parameter that takes it, and how such an id looks in an answer. */
export const idShapes = {
  page_id: /^pg_/,
  job_id: /^jb_/,
  blacklist_id: /^bl_/,
  watch_id: /^wt_/,
  cluster_id: /^cl_/,
  run_id: /^cr_/,
  merge_id: /^em_/,
  ref: /^en_/,
  query_id: /^qr_/,
  model_id: /^local-/,
} as const;
export type IdName = keyof typeof idShapes;

/** Fields that hold ids under another name. */
const alsoIds: Readonly<Record<string, IdName>> = {
  page_ids: 'page_id',
  job_ids: 'job_id',
  models: 'model_id',
  model: 'model_id',
  model_a: 'model_id',
  model_b: 'model_id',
  entity: 'ref',
};

const placeholder = /\{\{(\w+):(\d+)\}\}/g;

/** Put ids that exist where placeholders stand. */
export function withIds(
  text: string,
  known: ReadonlyMap<string, readonly string[]>,
  write: (id: string) => string,
): string {
  return text.replace(placeholder, (_, name: string, no: string) => {
    const ids = known.get(name) ?? [];
    return write(ids.length === 0 ? `${name}-none` : ids[Number(no) % ids.length]);
  });
}

const idText = (name: string): fc.Arbitrary<string> => fc.nat({ max: 10_000 }).map((no) => `{{${name}:${no}}}`);

const words = 'heron river flour oven bishop king Berlin Oslo Angela Merkel storm 漢字 🌧 the of'.split(' ');
const sentence = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 30 }).map((chosen) => chosen.join(' '));
const host = fc.constantFrom('a.example', 'b.a.example', 'c.example', 'nowhere.invalid', '127.0.0.1', '漢字.example');
const address = fc
  .tuple(fc.constantFrom('http', 'https'), host, fc.webPath(), fc.constantFrom('', '?utm_source=x', '?id=7#top'))
  .map(([scheme, name, path, rest]) => `${scheme}://${name}${path}${rest}`);
const html = sentence.map(
  (text) => `<html><body><article><h1>${text}</h1><p>${text}. ${text}.</p></article></body></html>`,
);
const datetime = fc
  .tuple(
    fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
    fc.constantFrom('Z', '+02:00', '-11:30'),
  )
  .map(([date, offset]) => date.toISOString().replace('Z', offset));

/** What a field of this name should hold so that the request gets past the door. */
const byName: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  url: address,
  domain: host,
  body_extracted: sentence,
  body_html: html,
  query: sentence,
  queries: sentence,
  metric: fc.constantFrom('ingest_pages_total', 'process_resident_memory_bytes', 'none'),
  provider: fc.constantFrom('local', 'local', 'remote', 'nobody'),
  model_name: fc.constantFrom('multilingual-e5-small', 'multilingual-e5-small', 'other'),
  dim: fc.constantFrom(1, 100, 256, 384),
  max_input_tokens: fc.constantFrom(511, 512, 32_000),
};

const anyText = fc.oneof(
  sentence,
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);

function textOf(schema: Schema): fc.Arbitrary<string> {
  const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (format === 'date-time') return datetime;
  return anyText.map((text) => text.padEnd(minLength, 'x').slice(0, maxLength));
}

function numberOf({ type, minimum, exclusiveMinimum, maximum }: Schema): fc.Arbitrary<number> {
  const min = minimum ?? exclusiveMinimum ?? -1e9;
  const max = maximum ?? 1e9;
  if (type === 'integer') return fc.oneof(fc.integer({ min, max: Math.min(max, 2 ** 31) }), fc.constantFrom(min, max));
  return fc.double({ min, minExcluded: exclusiveMinimum !== undefined, max, noNaN: true, noDefaultInfinity: true });
}

/** Valid values of a schema, for a field called `name`. */
export function validOf(documented: Documented, given: Schema, name: string): fc.Arbitrary<unknown> {
  const schema = documented.resolve(given);
  const id = name in idShapes ? name : alsoIds[name];
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return fc.oneof(...alternatives.map((each) => validOf(documented, each, name)));
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => validOf(documented, { ...schema, type }, name)));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  switch (schema.type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return byName[name] ?? numberOf(schema);
    case 'string':
      if (id !== undefined) return fc.oneof({ weight: 9, arbitrary: idText(id) }, textOf(schema));
      return name in byName ? fc.oneof({ weight: 9, arbitrary: byName[name] }, textOf(schema)) : textOf(schema);
    case 'array': {
      const { minItems = 0, maxItems = 6, items = {} } = schema;
      const item =
        name === 'pages'
          ? validOf(documented, { $ref: '#/components/schemas/IngestPageRequest' }, '')
          : validOf(documented, items, name);
      return fc.array(item, { minLength: minItems, maxLength: Math.min(maxItems, 6) });
    }
    case 'object':
      return objectOf(documented, schema);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

function objectOf(documented: Documented, schema: Schema): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties: others } = schema;
  if (Object.keys(properties).length === 0 && typeof others === 'object')
    return fc.dictionary(
      anyText.filter((key) => key !== '__proto__'),
      validOf(documented, others, ''),
      { maxKeys: 4 },
    );
  const fields = Object.entries(properties).map(([key, inner]) => [key, validOf(documented, inner, key)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: required });
}

/** What does not belong where it is put, mostly. */
const strange = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      null,
      true,
      false,
      '',
      ' ',
      [],
      {},
      [null],
      0,
      -1,
      1.5,
      -0.0,
      1e308,
      2 ** 53,
      -(2 ** 53),
      5e-324,
      101,
      1001,
      8193,
    ],
    ...[
      'NaN',
      'Infinity',
      '-1',
      '1e999',
      '0x10',
      'null',
      'undefined',
      'true',
      '[object Object]',
      '__proto__',
      'constructor',
    ],
    ...[
      '\ud800',
      'a\udfffb',
      '\u0000',
      '\u001b[31m\r\n{"level":60}',
      '\u202eabc\u2066',
      '\u009b31m',
      "'; DROP TABLE pages;--",
      '../../etc/passwd',
    ],
    ...[
      '2024-05-01T12:00:00',
      '2024-02-30T00:00:00Z',
      '99999-01-01T00:00:00Z',
      'javascript:alert(1)',
      'file:///etc/passwd',
    ],
    ...['http://', 'http://[::1', 'http://user:pass@a.example:99999/', `http://${'a'.repeat(300)}.example/`],
  ),
  fc.constantFrom(4001, 100_000).map((length) => 'heron '.repeat(length / 6)),
  fc.constantFrom(101, 501, 5000).map((length) => Array.from({ length }, (_, i) => `item ${i}`)),
  fc.constantFrom(70, 3000).map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))),
  fc.jsonValue({ maxDepth: 4 }),
);

type Container = Record<string, unknown>;

/** Every place of a value that can be changed: a container and a key of it. */
function placesOf(value: unknown): [Container, string][] {
  if (typeof value !== 'object' || value === null) return [];
  const container = value as Container;
  return Object.keys(container).flatMap((key) => [
    [container, key] as [Container, string],
    ...placesOf(container[key]),
  ]);
}

const containersOf = (value: unknown): Container[] =>
  typeof value !== 'object' || value === null
    ? []
    : [value as Container, ...Object.values(value).flatMap(containersOf)].filter((each) => !Array.isArray(each));

/** Set as an own key, `__proto__` too. */
function put(container: Container, key: string, value: unknown): void {
  Object.defineProperty(container, key, { value, enumerable: true, writable: true, configurable: true });
}

/** A value with one thing in it changed, left out or added. */
export function oneWrong(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const fault = fc.record({
    kind: fc.constantFrom('replace', 'replace', 'remove', 'add'),
    at: fc.nat(),
    key: fc.oneof(
      fc.constantFrom('unknown', '__proto__', 'constructor', 'Query', 'url ', '', 'x'.repeat(500)),
      anyText,
    ),
    value: strange,
  });
  return fc.tuple(valid, fault).map(([given, { kind, at, key, value }]) => {
    const changed = { whole: structuredClone(given) };
    const places = placesOf(changed);
    const [container, place] = places[at % places.length];
    const containers = containersOf(changed.whole);
    if (kind === 'add' && containers.length > 0) put(containers[at % containers.length], key, value);
    else if (kind === 'remove' && container !== (changed as Container)) delete container[place];
    else put(container, place, value);
    return changed.whole;
  });
}

/** Bodies that are no JSON document, or one that nobody would write. */
const fixedBodies = [
  ...[
    '',
    ' ',
    '{',
    '{"a":1',
    '[1,]',
    'NaN',
    '{"k":NaN}',
    "{'k':1}",
    '\ufeff{}',
    '{}{}',
    'null',
    '[]',
    '0',
    '"text"',
    'true',
  ],
  ...['{"k":1e999}', '{"k":-1e999}', '{"k":01}', '{"k":1,"k":"x"}', '{"__proto__":{"polluted":true}}'],
  ...['{"\\u005f_proto__":1}', '{"constructor":{"prototype":{"x":1}}}', `{"k":${'9'.repeat(400)}}`],
  ...[
    '['.repeat(100_000),
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  ],
];
export const rawBodies = fc.oneof(fc.constantFrom(...fixedBodies), fc.string({ unit: 'binary', maxLength: 200 }));

/** Texts of path parameters, as they stand in the path. */
export const strangeSegments = fc.oneof(
  fc.constantFrom('', '.', '..', '%00', '%zz', '%', '%2e%2e', '%2f', '..%2f..%2fetc', '%ff%fe', '%C0%AF', '__proto__'),
  fc.constantFrom(
    'null',
    'undefined',
    'NaN',
    '0',
    '-1',
    'pg_zzzzzzzz',
    'pg_99999999',
    'PG_00000001',
    "'%20OR%201=1",
    '%1b%5b31m',
  ),
  fc.constantFrom(1000, 1025, 8000).map((length) => 'x'.repeat(length)),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).map(encodeURIComponent),
);
export { strange as strangeValues };
