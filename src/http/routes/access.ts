/** One-time codes, browser sessions, tokens created at runtime, and pairing: docs/access.md. */
import { z } from 'zod';
import type { Grant } from '../../access/one-time-codes.ts';
import * as access from '../../domain/access.ts';
import { pathText } from '../../domain/values.ts';
import { cameByHttps, sessionCookie, sessionOf } from '../credentials.ts';
import {
  described,
  errorAnswers,
  errorResponse,
  holderOf,
  needsRead,
  needsWrite,
  type RouteGroup,
  unauthenticated,
} from '../http-app.ts';
import { unauthenticatedBodyLimit } from '../json-body.ts';

export const sessionRoutes: RouteGroup = (app, { access: known }) => {
  app.post(
    '/v1/codes',
    needsWrite({
      operationId: 'create_code',
      summary: 'Create a one-time code to sign in a browser or to pair an extension',
      description:
        'A `session` code is valid for 60 seconds. A `pair` code has eight characters and is valid for 10 minutes. `scopes` are those of the new session or token; by default the caller’s. A library has at most 20 codes of each purpose.',
      body: access.createCodeRequest,
      response: { 201: access.codeResponse },
    }),
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
      bodyLimit: unauthenticatedBodyLimit,
      config: { scope: 'public', takesCredential: 'session' },
      schema: {
        operationId: 'create_session',
        summary: 'Sign a browser in, with a one-time code or a token',
        description:
          'Sets the cookie `readback_session` (with `_PORT` if the address has one), HttpOnly and SameSite=Strict. It is valid only in requests of the console’s own pages.',
        security: [],
        body: access.createSessionRequest,
        response: {
          201: access.sessionResponse,
          401: described(401, errorResponse),
          409: described(409, access.otherLibraryResponse),
          ...errorAnswers(503),
        },
      },
    },
    async (request, reply) => {
      const { code, token, keep_library = false } = request.body;
      const replaces = sessionOf(request.raw, known);
      const library = code === undefined ? null : known.libraryOfCode(code);
      if (keep_library && replaces !== null && library !== null && library !== replaces.library)
        return reply.code(409).send(access.otherLibrary(replaces.library, library));
      let grant: Grant | null = null;
      if (code !== undefined) grant = known.redeemCode('session', code);
      if (token !== undefined) grant = known.holderOfToken(token);
      if (grant === null) return reply.code(401).send(unauthenticated);
      const given = { userAgent: request.headers['user-agent'], replaces };
      const { secret, session } = await known.openSession(grant, given);
      return reply.code(201).header('set-cookie', sessionCookie(request.raw, secret)).send(session);
    },
  );

  app.get(
    '/v1/sessions',
    needsRead({
      operationId: 'list_sessions',
      summary: 'Browsers that are signed in, newest first',
      response: { 200: access.sessionListResponse },
    }),
    async (request) => ({ sessions: known.sessionsFor(holderOf(request)) }),
  );

  app.delete(
    '/v1/sessions/current',
    needsRead({
      operationId: 'delete_current_session',
      summary: 'Sign out: ends the session of the request and clears its cookie',
      response: { 204: z.null(), ...errorAnswers(404) },
    }),
    async (request, reply) => {
      const holder = holderOf(request);
      await known.endSession(holder, holder.id);
      return reply.code(204).header('set-cookie', sessionCookie(request.raw, null)).send(null);
    },
  );

  app.delete(
    '/v1/sessions/:session_id',
    needsWrite({
      operationId: 'delete_session',
      summary: 'Sign a browser out, at once',
      params: z.object({ session_id: pathText }),
      response: { 204: z.null(), ...errorAnswers(404) },
    }),
    async (request, reply) => {
      await known.endSession(holderOf(request), request.params.session_id);
      return reply.code(204).send(null);
    },
  );
};

export const tokenRoutes: RouteGroup = (app, { access: known }) => {
  app.get(
    '/v1/tokens',
    needsRead({
      operationId: 'list_tokens',
      summary: 'Tokens of the library, without their secrets',
      response: { 200: access.tokenListResponse },
    }),
    async (request) => ({ tokens: known.tokensFor(holderOf(request)) }),
  );

  app.post(
    '/v1/tokens',
    needsWrite({
      operationId: 'create_token',
      summary: 'Make a token',
      description: 'Only this answer contains the token. 409 if the library has a hundred.',
      body: access.createTokenRequest,
      response: { 201: access.createdTokenResponse, ...errorAnswers(409) },
    }),
    async (request, reply) => {
      const { name, scopes } = request.body;
      const made = await known.createToken(holderOf(request), { name, scopes, source: 'created', origin: null });
      return reply.code(201).send(made);
    },
  );

  app.delete(
    '/v1/tokens/:token_id',
    needsWrite({
      operationId: 'delete_token',
      summary: 'Revoke a token and its sessions at once',
      description: '409 for a token of the settings: remove it there.',
      params: z.object({ token_id: pathText }),
      response: { 204: z.null(), ...errorAnswers(404, 409) },
    }),
    async (request, reply) => {
      await known.revokeToken(holderOf(request), request.params.token_id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/pair',
    {
      bodyLimit: unauthenticatedBodyLimit,
      config: { scope: 'public', takesCredential: 'pair' },
      schema: {
        operationId: 'pair',
        summary: 'Exchange a pairing code for a token',
        description:
          'For browser extensions: the Origin of the request becomes the token’s `origin` and is allowed by CORS. After 30 wrong codes in a minute the answer is 429.',
        security: [],
        body: access.pairRequest,
        response: { 201: access.pairResponse, 401: described(401, errorResponse), ...errorAnswers(409, 429, 503) },
      },
    },
    async (request, reply) => {
      const { code, name } = request.body;
      const grant = known.redeemCode('pair', code);
      if (grant === null) return reply.code(401).send({ detail: 'wrong or used code' });
      const made = { name, scopes: grant.scopes, source: 'paired', origin: request.headers.origin ?? null } as const;
      const { token, scopes } = await known.createToken(grant, made);
      return reply.code(201).send({ token, name, library: grant.library, scopes });
    },
  );
};
