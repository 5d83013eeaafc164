/** The OpenAPI 3.1 document, from the zod schemas of requests, with error answers and security of all routes. */
import swagger from '@fastify/swagger';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { RouteScope } from '../domain/access.ts';
import * as access from '../domain/access.ts';
import * as admin from '../domain/admin.ts';
import * as asking from '../domain/ask.ts';
import * as blacklist from '../domain/blacklist.ts';
import * as cluster from '../domain/cluster.ts';
import * as compare from '../domain/compare.ts';
import * as entity from '../domain/entity.ts';
import * as evaluation from '../domain/evaluation.ts';
import * as importing from '../domain/import.ts';
import * as job from '../domain/job.ts';
import * as model from '../domain/model.ts';
import * as page from '../domain/page.ts';
import * as queryLog from '../domain/query-log.ts';
import * as search from '../domain/search.ts';
import * as watch from '../domain/watch.ts';
import { cookieName } from './credentials.ts';
import { errorAnswers, errorResponse, type HttpApp } from './http-app.ts';
import { httpValidationError } from './request-invalid.ts';

const modules = [
  ...[access, admin, blacklist, cluster, compare, entity, evaluation, importing, job, model, page, queryLog],
  ...[search, asking, watch, { errorResponse }],
];
const isComponent = /(?:Request|Response|Summary|Result|Info|Entry|Report|Body|uggestion)$/;

/** Schemas by name: bodies and their larger parts. */
const components: [name: string, schema: z.ZodType][] = [
  ['HTTPValidationError', httpValidationError],
  ...modules
    .flatMap((each) => Object.entries(each))
    .flatMap(([name, value]): [string, z.ZodType][] =>
      isComponent.test(name) && value instanceof z.ZodType ? [[name[0].toUpperCase() + name.slice(1), value]] : [],
    ),
];

const reference = /"#\/components\/schemas\/(\w+)"/g;

/** Removes unused components. In the contract, a schema used only as input has no suffix "Input". */
function onlyUsed<Document extends object>(document: Document): Document {
  const whole: { components?: { schemas?: Record<string, unknown> } } & object = document;
  const schemas = whole.components?.schemas ?? {};
  const used = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(reference)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit({ ...whole, components: null });
  const plainName = (name: string): string => {
    const plain = name.replace(/Input$/, '');
    return used.has(plain) ? name : plain;
  };
  const kept = [...used].sort().map((name) => [plainName(name), schemas[name]]);
  const pruned = { ...whole, components: { ...whole.components, schemas: Object.fromEntries(kept) } };
  return JSON.parse(
    JSON.stringify(pruned).replace(reference, (_all, name) => `"#/components/schemas/${plainName(name)}"`),
  );
}

/** Tags by the first part of a path, for routes without a tag. All others are `diagnostics`. */
const tagOf: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['clusters', 'entities', 'forget', 'imports', 'jobs', 'mcp', 'models', 'pages', 'watches'].map((name) => [
      name,
      name,
    ]),
  ),
  ...{
    blacklist: 'forget',
    events: 'jobs',
    search: 'retrieval',
    ask: 'retrieval',
    compare: 'retrieval',
    feedback: 'retrieval',
  },
  ...{ codes: 'access', pair: 'access', sessions: 'access', tokens: 'access' },
};

/** Register before the routes. */
export function describeRoutes(app: HttpApp, version: string): void {
  const schemaRegistry = z.registry<{ id: string }>();
  for (const [id, schema] of components) schemaRegistry.add(schema, { id });
  const zodToJsonConfig = { override: withFacts };
  const withComponents = createJsonSchemaTransformObject({ schemaRegistry, zodToJsonConfig });
  const withJsonSchemas = createJsonSchemaTransform({ schemaRegistry, zodToJsonConfig });
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'readback',
        description: 'A self-hosted index of everything you have read. Results are passages of your pages.',
        version,
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          session: { type: 'apiKey', in: 'cookie', name: cookieName },
        },
      },
      security: [{ bearer: [] }, { session: [] }],
    },
    transform: (given) => {
      const { schema, route } = given;
      const response = {
        ...commonAnswers([route.method].flat(), route.config?.scope),
        ...(schema?.response as object),
      };
      const tags = [tagOf[/^\/(?:v1\/)?(\w+)/.exec(given.url)?.[1] ?? ''] ?? 'diagnostics'];
      return withJsonSchemas({ ...given, schema: { tags, ...schema, response } });
    },
    transformObject: (document) => onlyUsed(withComponents(document)),
  });
}

/** Errors before a route is reached, or while the service is busy, restarting or stopping. */
function commonAnswers(methods: readonly string[], scope: RouteScope | undefined) {
  const takesBody = methods.some((method) => method !== 'GET' && method !== 'HEAD');
  return errorAnswers(
    403,
    ...(scope === 'public' ? [] : ([401, 503] as const)),
    ...(takesBody ? ([413, 422] as const) : []),
  );
}

/** Adds facts that JSON schemas lack, such as the format of a text. */
function withFacts({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: object }): void {
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema));
}
