/** From a route's zod schemas to what a tool takes and gives, and from a tool's arguments to the route's request. Pure. */
import { z } from 'zod';
import type { Tool } from './tools.ts';

/** What a route says of itself. */
export interface RouteSchemas {
  params?: z.ZodType | undefined;
  querystring?: z.ZodType | undefined;
  body?: z.ZodType | undefined;
  /** By status; a schema or none. */
  answers: Readonly<Record<string, z.ZodType>>;
}

export interface ObjectSchema {
  type: 'object';
  properties?: Record<string, unknown> | undefined;
  required?: string[] | undefined;
  [keyword: string]: unknown;
}

const placeholder = /:(\w+)/g;
const pathNames = (url: string): string[] => Array.from(url.matchAll(placeholder), ([, name]) => name);

function objectSchema(schema: z.ZodType | undefined, io: 'input' | 'output'): ObjectSchema {
  if (schema === undefined) return { type: 'object' };
  const { $schema, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' });
  return { ...json, type: 'object' };
}

/** Path, query and body of the route in one object. A route that is not there has its path only. */
export function inputSchema({ url }: Tool, route: RouteSchemas | undefined): ObjectSchema {
  const path = Object.fromEntries(pathNames(url).map((name) => [name, { type: 'string', minLength: 1 }]));
  const query = objectSchema(route?.querystring, 'input');
  const { additionalProperties, ...body } = objectSchema(route?.body, 'input');
  const required = [...Object.keys(path), ...(query.required ?? []), ...(body.required ?? [])];
  return {
    ...body,
    properties: { ...path, ...query.properties, ...body.properties },
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** The route's successful answers, or undefined where they have no content. */
export function outputSchema(route: RouteSchemas | undefined): ObjectSchema | undefined {
  const bodies = Object.entries(route?.answers ?? {})
    .filter(([status, schema]) => /^2\d\d$/.test(status) && !(schema instanceof z.ZodNull))
    .map(([, schema]) => objectSchema(schema, 'output'));
  if (bodies.length === 0) return undefined;
  return bodies.length === 1 ? bodies[0] : { type: 'object', anyOf: bodies };
}

export interface RouteCall {
  method: Tool['method'];
  url: string;
  body: Record<string, unknown> | undefined;
}

/** The request that a tool call stands for, or what is wrong with its arguments; the route judges the rest. */
export function routeCall(
  tool: Tool,
  route: RouteSchemas | undefined,
  args: Record<string, unknown>,
): RouteCall | string {
  const rest = new Map(Object.entries(args));
  let wrong: string | undefined;
  const url = tool.url.replace(placeholder, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    // A dot or two would be taken for steps in the path.
    if (typeof value !== 'string' || value === '' || value === '.' || value === '..') wrong = `${name}: must name one`;
    return encodeURIComponent(String(value));
  });
  if (wrong !== undefined) return wrong;
  const query = new URLSearchParams();
  for (const name of Object.keys(objectSchema(route?.querystring, 'input').properties ?? {})) {
    const value = rest.get(name);
    rest.delete(name);
    if (typeof value === 'object' && value !== null) return `${name}: must be a single value`;
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const hasBody = route?.body !== undefined;
  if (!hasBody && route !== undefined && rest.size > 0)
    return `unknown argument: ${[...rest.keys()].join(', ').slice(0, 100)}`;
  return {
    method: tool.method,
    url: query.size === 0 ? url : `${url}?${query}`,
    body: hasBody ? Object.fromEntries(rest) : undefined,
  };
}
