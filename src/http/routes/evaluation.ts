/** Evaluation by feedback: contract "Events, admin, diagnostics". */
import { z } from 'zod';
import * as evaluation from '../../domain/evaluation.ts';
import { pathText } from '../../domain/texts.ts';
import type { RouteGroup } from '../http-app.ts';
import { errorAnswers } from '../openapi.ts';

export const evaluationRoutes: RouteGroup = (app, { asking }) => {
  app.post(
    '/v1/admin/eval/score',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'eval_score',
        summary: 'Score logged queries against feedback',
        tags: ['evaluation'],
        body: evaluation.evalScoreRequest,
        response: { 200: evaluation.scoreReport, ...errorAnswers(422) },
      },
    },
    async ({ body }, reply) => asking(reply)('eval.score', body),
  );

  app.post(
    '/v1/admin/eval/replay',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'eval_replay',
        summary: 'Rank queries in two ways and compare: judged ones, or ones made of the pages',
        description: 'A durable job. It may call providers that cost money.',
        tags: ['evaluation'],
        body: evaluation.evalReplayRequest,
        response: { 202: evaluation.evalReplayAcceptedResponse, ...errorAnswers(422) },
      },
    },
    async ({ body }, reply) => reply.code(202).send(await asking(reply)('eval.startReplay', body)),
  );

  app.get(
    '/v1/admin/eval/replay',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'eval_replays',
        summary: 'Replays, newest first: what was asked for, how far each is, and its report',
        tags: ['evaluation'],
        querystring: evaluation.evalReplaysQuery,
        response: { 200: evaluation.evalReplayListResponse, ...errorAnswers(422) },
      },
    },
    async ({ query }, reply) => asking(reply)('eval.replays', query),
  );

  app.get(
    '/v1/admin/eval/replay/:job_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'eval_replay_result',
        summary: 'How far a replay is, and its report',
        tags: ['evaluation'],
        params: z.object({ job_id: pathText }),
        response: { 200: evaluation.evalReplayResultResponse, ...errorAnswers(404) },
      },
    },
    async ({ params }, reply) => asking(reply)('eval.replay', params),
  );
};
