/** Contract "Admin and diagnostics". */
import { z } from 'zod';
import { backupListResponse, newBackupResponse } from '../../domain/backup.ts';
import { diskResponse } from '../../domain/disk.ts';
import * as evaluation from '../../domain/evaluation.ts';
import {
  adminConfigResponse,
  metricsSummaryResponse,
  metricsTimeseriesResponse,
  summaryQuery,
  timeseriesQuery,
} from '../../domain/metrics.ts';
import {
  feedbackRequest,
  feedbackResponse,
  queryLogListResponse,
  queryLogQuery,
  queryLogRunResponse,
} from '../../domain/query-log.ts';
import { pathText } from '../../domain/texts.ts';
import { holderOf, needsRead, needsWrite, type RouteGroup } from '../http-app.ts';
import { withRows } from '../json-answer.ts';
import { errorAnswers } from '../openapi.ts';

export const adminRoutes: RouteGroup = (app, { asking, backups, shownSettings, capabilities }) => {
  app.post(
    '/v1/admin/backups',
    needsWrite({
      operationId: 'create_backup',
      summary: 'Make a backup',
      description:
        'Written to a folder of `backup.dir`, and finished even if the client disconnects; 409 while another one is made. Then the oldest backups are deleted until at most `backup.keep` are left and store and backups fit in `storage.max_bytes`.',
      response: { 201: newBackupResponse, ...errorAnswers(409) },
    }),
    async (request, reply) => {
      reply.raw.socket?.setTimeout(0); // a large store takes minutes
      return reply.code(201).send(await backups.make(holderOf(request).library));
    },
  );

  app.get(
    '/v1/admin/backups',
    needsRead({
      operationId: 'list_backups',
      summary: 'Backups made by the service, newest first, at most 100',
      response: { 200: backupListResponse },
    }),
    async (request) => backups.list(holderOf(request).library),
  );

  app.get(
    '/v1/admin/metrics/timeseries',
    needsRead({
      operationId: 'metrics_timeseries',
      summary: 'Time series of a metric',
      description:
        'One point per step (seconds): the mean of a gauge, the last value of anything else. An unknown metric has no series.',
      querystring: timeseriesQuery,
      response: { 200: metricsTimeseriesResponse, ...errorAnswers(422) },
    }),
    async ({ query }, reply) => asking(reply)('metrics.timeseries', query),
  );

  app.get(
    '/v1/admin/metrics/summary',
    needsRead({
      operationId: 'metrics_summary',
      summary: 'The most important metrics',
      description: '`since` limits latencies only; counters are those of this process.',
      querystring: summaryQuery,
      response: { 200: metricsSummaryResponse, ...errorAnswers(422) },
    }),
    async ({ query }, reply) => asking(reply)('metrics.summary', query),
  );

  app.get(
    '/v1/admin/disk',
    needsRead({
      operationId: 'disk_usage',
      summary: 'Disk usage of the library by part, and free space',
      description: 'Measured for each request. Backups are not included.',
      response: { 200: diskResponse },
    }),
    async (_request, reply) => asking(reply)('disk.usage', {}),
  );

  app.get(
    '/v1/admin/config',
    needsRead({
      operationId: 'admin_config',
      summary: 'Every setting, secrets redacted',
      description: '`capabilities` are the helper programs found, with their versions.',
      response: { 200: adminConfigResponse },
    }),
    async (request) => {
      const { settings, mutability } = shownSettings(holderOf(request).library);
      return { settings: { ...settings, capabilities: await capabilities() }, mutability };
    },
  );
};

export const metricsRoutes: RouteGroup = (app, { metrics }) => {
  app.get(
    '/metrics',
    needsRead(
      {
        operationId: 'get_metrics',
        summary: 'Metrics in text exposition',
        response: {
          200: { description: 'Metrics', content: { 'text/plain': { schema: z.string() } } },
        },
      },
      { isOfHost: true },
    ),
    async (_request, reply) => {
      const { contentType, text } = await metrics.exposition();
      return reply.type(contentType).send(text);
    },
  );
};

export const queryLogRoutes: RouteGroup = (app, { asking }) => {
  app.post(
    '/v1/feedback',
    needsRead({
      operationId: 'feedback',
      summary: 'Judge a result',
      description:
        'Unknown query ids are accepted; evaluation drops them. Later feedback on a page replaces earlier feedback.',
      body: feedbackRequest,
      response: { 202: feedbackResponse, ...errorAnswers(422) },
    }),
    async ({ body }, reply) => reply.code(202).send(await asking(reply)('feedback.give', body)),
  );

  app.get(
    '/v1/admin/query-log',
    needsRead({
      operationId: 'query_log',
      summary: 'Logged queries, newest first',
      querystring: queryLogQuery,
      response: { 200: queryLogListResponse, ...errorAnswers(422) },
    }),
    async ({ query }, reply) => withRows(await asking(reply)('queryLog.list', query)),
  );

  app.get(
    '/v1/admin/query-log/:query_id',
    needsRead({
      operationId: 'logged_query',
      summary: 'One logged query with its candidates and its feedback',
      params: z.object({ query_id: pathText }),
      response: { 200: queryLogRunResponse, ...errorAnswers(404) },
    }),
    async ({ params }, reply) => asking(reply)('queryLog.get', params),
  );
};

export const evaluationRoutes: RouteGroup = (app, { asking }) => {
  app.post(
    '/v1/admin/eval/score',
    needsRead({
      operationId: 'eval_score',
      summary: 'Score logged queries against feedback',
      tags: ['evaluation'],
      body: evaluation.evalScoreRequest,
      response: { 200: evaluation.scoreReport, ...errorAnswers(422) },
    }),
    async ({ body }, reply) => asking(reply)('eval.score', body),
  );

  app.post(
    '/v1/admin/eval/replay',
    needsWrite({
      operationId: 'eval_replay',
      summary: 'Replay queries in two arms and compare them: queries with feedback, or queries made from pages',
      description: 'A durable job. It may call paid providers.',
      tags: ['evaluation'],
      body: evaluation.evalReplayRequest,
      response: { 202: evaluation.evalReplayAcceptedResponse, ...errorAnswers(422) },
    }),
    async ({ body }, reply) => reply.code(202).send(await asking(reply)('eval.startReplay', body)),
  );

  app.get(
    '/v1/admin/eval/replay',
    needsRead({
      operationId: 'eval_replays',
      summary: 'Replays with progress and reports, newest first',
      tags: ['evaluation'],
      querystring: evaluation.evalReplaysQuery,
      response: { 200: evaluation.evalReplayListResponse, ...errorAnswers(422) },
    }),
    async ({ query }, reply) => asking(reply)('eval.replays', query),
  );

  app.get(
    '/v1/admin/eval/replay/:job_id',
    needsRead({
      operationId: 'eval_replay_result',
      summary: 'Progress and report of a replay',
      tags: ['evaluation'],
      params: z.object({ job_id: pathText }),
      response: { 200: evaluation.evalReplayResultResponse, ...errorAnswers(404) },
    }),
    async ({ params }, reply) => asking(reply)('eval.replay', params),
  );
};
