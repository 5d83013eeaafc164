/** Contract "Models". */
import { z } from 'zod';
import { knownModels, knownModelsResponse } from '../../domain/known-models.ts';
import * as model from '../../domain/model.ts';
import { pathText } from '../../domain/texts.ts';
import { needsRead, needsWrite, type RouteGroup } from '../http-app.ts';
import { errorAnswers } from '../openapi.ts';

const params = z.object({ model_id: pathText });

export const modelRoutes: RouteGroup = (app, { ask, asking }) => {
  app.get(
    '/v1/models',
    needsRead({
      operationId: 'list_models',
      summary: 'Registered embedding models',
      response: { 200: model.modelListResponse },
    }),
    async (_, reply) => asking(reply)('model.list', {}),
  );

  app.get(
    '/v1/models/known',
    needsRead({
      operationId: 'known_models',
      summary: 'Known embedding models',
      description: 'With published facts. The list is part of the program.',
      response: { 200: knownModelsResponse },
    }),
    async () => ({ models: [...knownModels] }),
  );

  app.post(
    '/v1/models',
    needsWrite({
      operationId: 'register_model',
      summary: 'Register an embedding model',
      description: 'It is not active and has no vectors: a backfill makes them.',
      body: model.registerModelRequest,
      response: { 201: model.modelInfo, ...errorAnswers(409, 422) },
    }),
    async ({ body }, reply) => reply.code(201).send(await asking(reply)('model.register', body)),
  );

  app.post(
    '/v1/models/fill',
    needsWrite({
      operationId: 'pause_fill',
      summary: 'Pause or resume making vectors of the built-in model',
      description: 'Kept across restarts. Pages without vectors are found by their words.',
      body: model.pauseFillRequest,
      response: { 200: model.modelListResponse, ...errorAnswers(422) },
    }),
    async ({ body }, reply) => asking(reply)('model.pauseFill', body),
  );

  app.post(
    '/v1/models/:model_id/activate',
    needsWrite({
      operationId: 'activate_model',
      summary: 'Search by this model from now on',
      params,
      response: { 200: model.modelInfo, ...errorAnswers(404, 409) },
    }),
    async ({ params }, reply) => asking(reply)('model.activate', params),
  );

  app.delete(
    '/v1/models/:model_id',
    needsWrite({
      operationId: 'delete_model',
      summary: 'Delete a model with its vectors and files',
      params,
      response: { 204: z.null().describe('it is gone'), ...errorAnswers(404, 409) },
    }),
    async (request, reply) => {
      await ask(request)('model.retire', request.params);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/models/:model_id/backfill',
    needsRead({
      operationId: 'model_backfill',
      summary: 'Progress of a model’s vectors',
      params,
      response: { 200: model.modelBackfillResponse, ...errorAnswers(404) },
    }),
    async ({ params }, reply) => asking(reply)('model.backfill', params),
  );

  app.post(
    '/v1/models/:model_id/backfill',
    needsWrite({
      operationId: 'backfill_model',
      summary: 'Estimate the backfill of a model, or start it',
      description: 'Without `confirm` it returns an estimate only. A backfill may call a paid provider.',
      params,
      body: model.backfillRequest,
      response: {
        200: model.backfillEstimateResponse,
        202: model.backfillStartedResponse,
        ...errorAnswers(404, 422),
      },
    }),
    async ({ params, body }, reply) => {
      const ask = asking(reply);
      if (!body.confirm) return ask('model.estimateBackfill', params);
      return reply.code(202).send(await ask('model.startBackfill', params));
    },
  );
};
