/** Routes that send one message to the library. Path parameters, query and body form the request. */
import { z } from 'zod';
import type { RouteScope } from '../../domain/access.ts';
import type { MessageName, ReplyOf, RequestOf } from '../../domain/messages.ts';
import { pathText } from '../../domain/values.ts';
import { errorAnswers, type RouteGroup } from '../http-app.ts';
import type { withRows } from '../json-answer.ts';

interface AskingRoute {
  operationId: string;
  summary: string;
  description?: string;
  tags?: string[];
  querystring?: z.ZodType;
  body?: z.ZodType;
  /** Schema of a successful answer; its status is 200 by default. */
  answer: z.ZodType;
  status?: 200 | 201 | 202 | 204;
  /** Error statuses in addition to 404 of paths with parameters, and 422 of a query or body. */
  errors?: Parameters<typeof errorAnswers>;
}

type Nothing = Record<never, never>;
type PathParams<Url extends string> = Url extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & PathParams<Rest>
  : Url extends `${string}:${infer Name}`
    ? Record<Name, string>
    : Nothing;
type Part<Route, Name extends string> =
  Route extends Record<Name, infer Schema extends z.ZodType> ? z.output<Schema> : Nothing;
type Request<Url extends string, Route> = PathParams<Url> & Part<Route, 'querystring'> & Part<Route, 'body'>;
type Reply<Name extends MessageName> =
  ReplyOf<Name> extends undefined ? null : ReturnType<typeof withRows<ReplyOf<Name>>>;

/** Type error for a route whose request is not the message's, or whose answer is not its reply. */
type Fitting<Url extends string, Name extends MessageName, Route extends AskingRoute> =
  Request<Url, Route> extends RequestOf<Name>
    ? Reply<Name> extends z.input<Route['answer']>
      ? unknown
      : { answer: never }
    : { body: never; querystring: never };

type AddRoute = <Url extends string, Name extends MessageName, Route extends AskingRoute>(
  url: Url,
  name: Name,
  route: Route & Fitting<Url, Name, Route>,
) => void;

/** GET routes need the scope `read`, the others `write`, unless they are `postToRead`. */
export function askingRoutes(...[app, { asking }]: Parameters<RouteGroup>) {
  const adding =
    (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', scope: RouteScope): AddRoute =>
    (url, name, route) => {
      const { answer, status = 200, errors = [], ...schema }: AskingRoute = route;
      const parameters = Array.from(url.matchAll(/:(\w+)/g), ([, parameter]) => [parameter, pathText] as const);
      const hasInput = schema.querystring !== undefined || schema.body !== undefined;
      const response = {
        [status]: answer,
        ...(parameters.length > 0 && errorAnswers(404)),
        ...(hasInput && errorAnswers(422)),
        ...errorAnswers(...errors),
      };
      app.route({
        method,
        url,
        config: { scope },
        schema: { ...schema, params: z.object(Object.fromEntries(parameters)), response },
        handler: async ({ params, query, body }, reply) => {
          const given = Object.assign({}, schema.querystring && query, schema.body && body, params);
          const answered = await asking(reply)(name, given);
          return reply.code(status).send(answered ?? null);
        },
      });
    };
  return {
    get: adding('GET', 'read'),
    post: adding('POST', 'write'),
    postToRead: adding('POST', 'read'),
    patch: adding('PATCH', 'write'),
    delete: adding('DELETE', 'write'),
  };
}
