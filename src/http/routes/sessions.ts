/** One-time codes, and the sessions of browsers that are made of them: docs/access.md. */
import { z } from 'zod';
import type { Grant } from '../../access/one-time-codes.ts';
import * as access from '../../domain/access.ts';
import { pathText } from '../../domain/texts.ts';
import { cameByHttps, sessionCookie, sessionOf } from '../credentials.ts';
import { errorResponse, unauthenticated } from '../errors.ts';
import { holderOf, type RouteGroup } from '../http-app.ts';
import { strangersBodyLimit } from '../json-body.ts';
import { described, errorAnswers } from '../openapi.ts';

export const sessionRoutes: RouteGroup = (app, { access: known }) => {
  app.post(
    '/v1/codes',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'create_code',
        summary: 'A code that works once, for 60 seconds: for the session of a browser, or to pair an extension',
        description:
          'A `pair` code is eight characters to type. `scopes` are those of the session or the token that will be made: the caller’s where none are given. A library has 20 codes at a time.',
        tags: ['access'],
        body: access.createCodeRequest,
        response: { 201: access.codeResponse },
      },
    },
    async (request, reply) => {
      const { purpose, scopes } = request.body;
      const issued = await known.issueSharedCode(holderOf(request), purpose, scopes);
      const scheme = cameByHttps(request.raw) ? 'https' : 'http';
      const url = purpose === 'session' ? `${scheme}://${request.headers.host}/#code=${issued.code}` : null;
      return reply.code(201).send({ ...issued, purpose, url });
    },
  );

  app.post(
    '/v1/sessions',
    {
      bodyLimit: strangersBodyLimit,
      config: { scope: 'public', takesCredential: 'session' },
      schema: {
        operationId: 'create_session',
        summary: 'Sign a browser in, with a one-time code or a token',
        description:
          'The answer sets the cookie `readback_session` (with `_PORT`, where the address has one), HttpOnly and SameSite=Strict. It counts in requests of the page itself only.',
        tags: ['access'],
        security: [],
        body: access.createSessionRequest,
        response: { 201: access.sessionResponse, 401: described(401, errorResponse), ...errorAnswers(503) },
      },
    },
    async (request, reply) => {
      const { code, token } = request.body;
      let grant: Grant | null = null;
      if (code !== undefined) grant = known.redeemCode('session', code);
      if (token !== undefined) grant = known.holderOfToken(token);
      if (grant === null) return reply.code(401).send(unauthenticated);
      const replaces = sessionOf(request.raw, known);
      const given = { userAgent: request.headers['user-agent'], replaces };
      const { secret, session } = await known.openSession(grant, given);
      return reply.code(201).header('set-cookie', sessionCookie(request.raw, secret)).send(session);
    },
  );

  app.get(
    '/v1/sessions',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_sessions',
        summary: 'Browsers that are signed in, newest first',
        tags: ['access'],
        response: { 200: access.sessionListResponse },
      },
    },
    async (request) => ({ sessions: known.sessionsFor(holderOf(request)) }),
  );

  app.delete(
    '/v1/sessions/current',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'delete_current_session',
        summary: 'Sign out: ends the session that asks, and clears its cookie',
        tags: ['access'],
        response: { 204: z.null(), ...errorAnswers(404) },
      },
    },
    async (request, reply) => {
      const holder = holderOf(request);
      await known.endSession(holder, holder.id);
      return reply.code(204).header('set-cookie', sessionCookie(request.raw, null)).send(null);
    },
  );

  app.delete(
    '/v1/sessions/:session_id',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'delete_session',
        summary: 'Sign a browser out, at once',
        tags: ['access'],
        params: z.object({ session_id: pathText }),
        response: { 204: z.null(), ...errorAnswers(404) },
      },
    },
    async (request, reply) => {
      await known.endSession(holderOf(request), request.params.session_id);
      return reply.code(204).send(null);
    },
  );
};
