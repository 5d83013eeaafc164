import { z } from 'zod';
import { knownModels, knownModelsResponse } from '../../domain/known-models.ts';
import * as model from '../../domain/model.ts';
import { pathText } from '../../domain/values.ts';
import { errorAnswers, needsRead, needsWrite, type RouteGroup } from '../http-app.ts';
import { askingRoutes } from './asking-routes.ts';

const params = z.object({ model_id: pathText });

export const modelRoutes: RouteGroup = (app, context) => {
  const { asking } = context;
  const { delete: remove, get, post } = askingRoutes(app, context);

  get('/v1/models', 'model.list', {
    operationId: 'list_models',
    summary: 'Registered embedding models',
    answer: model.modelListResponse,
  });

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

  post('/v1/models', 'model.register', {
    operationId: 'register_model',
    summary: 'Register an embedding model',
    description: 'It is not active and has no vectors: a backfill makes them.',
    body: model.registerModelRequest,
    answer: model.modelInfo,
    status: 201,
    errors: [409],
  });

  post('/v1/models/fill', 'model.pauseFill', {
    operationId: 'pause_fill',
    summary: 'Pause or resume making vectors of the built-in model',
    description: 'Kept across restarts. Pages without vectors are found by their words.',
    body: model.pauseFillRequest,
    answer: model.modelListResponse,
  });

  post('/v1/models/:model_id/activate', 'model.activate', {
    operationId: 'activate_model',
    summary: 'Search by this model from now on',
    answer: model.modelInfo,
    errors: [409],
  });

  remove('/v1/models/:model_id', 'model.retire', {
    operationId: 'delete_model',
    summary: 'Delete a model with its vectors and files',
    answer: z.null().describe('it is deleted'),
    status: 204,
    errors: [409],
  });

  get('/v1/models/:model_id/backfill', 'model.backfill', {
    operationId: 'model_backfill',
    summary: 'Progress of a model’s vectors',
    answer: model.modelBackfillResponse,
  });

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
