import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reader, testServer } from './test-server.ts';

interface Operation {
  operationId: string;
  security?: object[];
  responses: Record<string, unknown>;
}

test('the document lists every route with its operation id, security and errors, and only components in use', async (t) => {
  const { app } = testServer(t);
  const answer = await app.inject({ url: '/openapi.json', headers: { authorization: `Bearer ${reader}` } });
  assert.equal(answer.statusCode, 200);
  const document: {
    openapi: string;
    security: object[];
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, unknown>; securitySchemes: object };
  } = answer.json();
  assert.equal(document.openapi, '3.1.0');
  assert.deepEqual(document.security, [{ bearer: [] }, { session: [] }]);
  assert.deepEqual(document.components.securitySchemes, {
    bearer: { type: 'http', scheme: 'bearer' },
    session: { type: 'apiKey', in: 'cookie', name: 'readback_session' },
  });
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ at: `${method.toUpperCase()} ${path}`, operation })),
  );
  const isFile = (url: string) => /^\/(?:[\w-]+\.(?:svg|png|webmanifest|js)|assets\/\*)?$/.test(url);
  const routes = app.routeTable.filter(({ method, url }) => method !== 'HEAD' && !isFile(url));
  const seen = operations.map(({ at }) => at).sort();
  assert.deepEqual(seen, routes.map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`).sort());
  const ids = operations.map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.every((id) => /^[a-z]+(_[a-z]+)*$/.test(id)));
  const idOf = (at: string) => operations.find((each) => each.at === at)?.operation.operationId;
  assert.equal(idOf('POST /v1/search'), 'search');
  assert.equal(idOf('POST /v1/pages'), 'add_page');
  assert.equal(idOf('GET /v1/pages/{page_id}'), 'get_page');
  assert.equal(idOf('GET /v1/pages/{page_id}/status'), 'page_status');
  for (const { at, operation } of operations) {
    const signsIn = at === 'POST /v1/sessions' || at === 'POST /v1/pair';
    const open = signsIn || at === 'GET /healthz' || at === 'GET /readyz';
    assert.deepEqual(operation.security, open ? [] : undefined, at);
    assert.equal('401' in operation.responses, !open || signsIn, at);
  }
  const text = JSON.stringify(document);
  for (const name of Object.keys(document.components.schemas)) {
    assert.doesNotMatch(name, /Input$/);
    assert.ok(text.includes(`"#/components/schemas/${name}"`), name);
  }
});

interface Sent {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  anyOf?: Sent[];
  items?: Sent;
  properties?: Record<string, Sent>;
  additionalProperties?: Sent | boolean;
}

test('all that a request may hold is bound, but the text of a page, which its body binds', async (t) => {
  const { app } = testServer(t);
  const answer = await app.inject({ url: '/openapi.json', headers: { authorization: `Bearer ${reader}` } });
  const { paths, components }: { paths: Record<string, Record<string, Asked>>; components: { schemas: Known } } =
    answer.json();
  type Known = Record<string, Sent>;
  interface Asked {
    parameters?: { name: string; schema: Sent }[];
    requestBody?: { content: Record<string, { schema: Sent }> };
  }
  const unboundIn = (given: Sent, at: string): string[] => {
    const schema = given.$ref === undefined ? given : (components.schemas[given.$ref.split('/').at(-1) ?? ''] ?? {});
    const { type, anyOf = [], properties = {}, items, additionalProperties } = schema;
    const types = [type].flat();
    const isFree =
      (types.includes('string') &&
        [schema.maxLength, schema.enum, schema.const].every((bound) => bound === undefined) &&
        schema.format !== 'date-time') ||
      (types.includes('array') && schema.maxItems === undefined) ||
      (typeof additionalProperties === 'object' && schema.maxProperties === undefined);
    return [
      ...(isFree ? [at] : []),
      ...anyOf.flatMap((each) => unboundIn(each, at)),
      ...(items === undefined ? [] : unboundIn(items, `${at}[]`)),
      ...(typeof additionalProperties === 'object' ? unboundIn(additionalProperties, `${at}.*`) : []),
      ...Object.entries(properties).flatMap(([name, each]) => unboundIn(each, `${at}.${name}`)),
    ];
  };
  const unbound = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => [
      ...parameters.flatMap(({ name, schema }) => unboundIn(schema, `${method} ${path} ${name}`)),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => unboundIn(schema, `${method} ${path}`)),
    ]),
  );
  assert.deepEqual(unbound, ['post /v1/pages.body_extracted', 'post /v1/pages.body_html']);
});
