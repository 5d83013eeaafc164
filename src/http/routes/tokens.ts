/** Tokens that are made and revoked at runtime, and pairing, which makes one without copying it: docs/access.md. */
import { z } from 'zod';
import * as access from '../../domain/access.ts';
import { pathText } from '../../domain/texts.ts';
import { errorResponse } from '../errors.ts';
import { holderOf, type RouteGroup } from '../http-app.ts';
import { strangersBodyLimit } from '../json-body.ts';
import { described, errorAnswers } from '../openapi.ts';

export const tokenRoutes: RouteGroup = (app, { access: known }) => {
  app.get(
    '/v1/tokens',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_tokens',
        summary: 'Tokens of the library, without their secrets',
        tags: ['access'],
        response: { 200: access.tokenListResponse },
      },
    },
    async (request) => ({ tokens: known.tokensFor(holderOf(request)) }),
  );

  app.post(
    '/v1/tokens',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'create_token',
        summary: 'Make a token',
        description: 'The answer is the only one that ever has it. 409 when the library has a hundred.',
        tags: ['access'],
        body: access.createTokenRequest,
        response: { 201: access.createdTokenResponse, ...errorAnswers(409) },
      },
    },
    async (request, reply) => {
      const { name, scopes } = request.body;
      const made = await known.createToken(holderOf(request), { name, scopes, source: 'created', origin: null });
      return reply.code(201).send(made);
    },
  );

  app.delete(
    '/v1/tokens/:token_id',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'delete_token',
        summary: 'Revoke a token, at once; the sessions that came from it end, too',
        description: '409 for one from the settings: it ends when it is taken out there.',
        tags: ['access'],
        params: z.object({ token_id: pathText }),
        response: { 204: z.null(), ...errorAnswers(404, 409) },
      },
    },
    async (request, reply) => {
      await known.revokeToken(holderOf(request), request.params.token_id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/pair',
    {
      bodyLimit: strangersBodyLimit,
      config: { scope: 'public', takesCredential: 'pair' },
      schema: {
        operationId: 'pair',
        summary: 'A token of its own for who has a pairing code',
        description:
          'For browser extensions: `origin` of the token is the Origin of the request, which CORS answers go to from then on. After 30 wrong codes in a minute 429 for the rest of it.',
        tags: ['access'],
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
