/** Tokens created at runtime, and pairing: docs/access.md. */
import { z } from 'zod';
import * as access from '../../domain/access.ts';
import { pathText } from '../../domain/values.ts';
import {
  described,
  errorAnswers,
  errorResponse,
  holderOf,
  needsRead,
  needsWrite,
  type RouteGroup,
} from '../http-app.ts';
import { unauthenticatedBodyLimit } from '../json-body.ts';

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
