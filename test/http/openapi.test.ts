import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reader, testServer } from './test-server.ts';

interface Operation {
  operationId: string;
  security?: object[];
  responses: Record<string, unknown>;
}

test('the document lists every route with its operation id, security and errors, and only components in use', async (t) => {
  const { app } = testServer();
  t.after(() => app.close());
  const answer = await app.inject({ url: '/openapi.json', headers: { authorization: `Bearer ${reader}` } });
  assert.equal(answer.statusCode, 200);
  const document: {
    openapi: string;
    security: object[];
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, unknown>; securitySchemes: object };
  } = answer.json();
  assert.equal(document.openapi, '3.1.0');
  assert.deepEqual(document.security, [{ bearer: [] }]);
  assert.deepEqual(document.components.securitySchemes, { bearer: { type: 'http', scheme: 'bearer' } });
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ at: `${method.toUpperCase()} ${path}`, operation })),
  );
  const routes = app.routeTable.filter(({ method }) => method !== 'HEAD');
  assert.deepEqual(
    operations.map(({ at }) => at).sort(),
    routes.map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`).sort(),
  );
  const ids = operations.map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.every((id) => /^[a-z]+(_[a-z]+)*$/.test(id)));
  const idOf = (at: string) => operations.find((each) => each.at === at)?.operation.operationId;
  assert.equal(idOf('POST /v1/search'), 'search');
  assert.equal(idOf('POST /v1/pages'), 'add_page');
  assert.equal(idOf('GET /v1/pages/{page_id}'), 'get_page');
  assert.equal(idOf('GET /v1/pages/{page_id}/status'), 'page_status');
  for (const { at, operation } of operations) {
    const open = at === 'GET /healthz' || at === 'GET /readyz';
    assert.deepEqual(operation.security, open ? [] : undefined, at);
    assert.equal('401' in operation.responses, !open, at);
  }
  const text = JSON.stringify(document);
  for (const name of Object.keys(document.components.schemas)) {
    assert.doesNotMatch(name, /Input$/);
    assert.ok(text.includes(`"#/components/schemas/${name}"`), name);
  }
});
