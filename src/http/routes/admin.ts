/** Contract "Admin and diagnostics". */
import { z } from 'zod';
import * as admin from '../../domain/admin.ts';
import * as evaluation from '../../domain/evaluation.ts';
import * as queryLog from '../../domain/query-log.ts';
import { errorAnswers, holderOf, needsRead, needsWrite, type RouteGroup } from '../http-app.ts';
import { askingRoutes } from './asking-routes.ts';

export const adminRoutes: RouteGroup = (app, context) => {
  const { backups, shownSettings, capabilities } = context;
  const { get } = askingRoutes(app, context);

  app.post(
    '/v1/admin/backups',
    needsWrite({
      operationId: 'create_backup',
      summary: 'Make a backup',
      description:
        'Written to a folder of `backup.dir`, and finished even if the client disconnects; 409 while another one is made. Then the oldest backups are deleted until at most `backup.keep` are left and store and backups fit in `storage.max_bytes`.',
      response: { 201: admin.newBackupResponse, ...errorAnswers(409) },
    }),
    async (request, reply) => {
      reply.raw.socket?.setTimeout(0); // a backup of a large store takes minutes
      return reply.code(201).send(await backups.make(holderOf(request).library));
    },
  );

  app.get(
    '/v1/admin/backups',
    needsRead({
      operationId: 'list_backups',
      summary: 'Backups made by the service, newest first, at most 100',
      response: { 200: admin.backupListResponse },
    }),
    async (request) => backups.list(holderOf(request).library),
  );

  get('/v1/admin/metrics/timeseries', 'metrics.timeseries', {
    operationId: 'metrics_timeseries',
    summary: 'Time series of a metric',
    description:
      'One point per step (seconds): the mean of a gauge, the last value of anything else. An unknown metric has no series.',
    querystring: admin.timeseriesQuery,
    answer: admin.metricsTimeseriesResponse,
  });

  get('/v1/admin/metrics/summary', 'metrics.summary', {
    operationId: 'metrics_summary',
    summary: 'The most important metrics',
    description: '`since` limits latencies only; counters are those of this process.',
    querystring: admin.summaryQuery,
    answer: admin.metricsSummaryResponse,
  });

  get('/v1/admin/disk', 'disk.usage', {
    operationId: 'disk_usage',
    summary: 'Disk usage of the library by part, and free space',
    description: 'Measured for each request. Backups are not included.',
    answer: admin.diskResponse,
  });

  app.get(
    '/v1/admin/config',
    needsRead({
      operationId: 'admin_config',
      summary: 'Every setting, secrets redacted',
      description: '`capabilities` are the helper programs found, with their versions.',
      response: { 200: admin.adminConfigResponse },
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

export const queryLogRoutes: RouteGroup = (app, context) => {
  const { get, postToRead } = askingRoutes(app, context);

  postToRead('/v1/feedback', 'feedback.give', {
    operationId: 'feedback',
    summary: 'Judge a result',
    description:
      'Unknown query ids are accepted; evaluation drops them. Later feedback on a page replaces earlier feedback.',
    body: queryLog.feedbackRequest,
    answer: queryLog.feedbackResponse,
    status: 202,
  });

  get('/v1/admin/query-log', 'queryLog.list', {
    operationId: 'query_log',
    summary: 'Logged queries, newest first',
    querystring: queryLog.queryLogQuery,
    answer: queryLog.queryLogListResponse,
  });

  get('/v1/admin/query-log/:query_id', 'queryLog.get', {
    operationId: 'logged_query',
    summary: 'One logged query with its candidates and its feedback',
    answer: queryLog.queryLogRunResponse,
  });
};

export const evaluationRoutes: RouteGroup = (app, context) => {
  const { get, post, postToRead } = askingRoutes(app, context);

  postToRead('/v1/admin/eval/score', 'eval.score', {
    operationId: 'eval_score',
    summary: 'Score logged queries against feedback',
    tags: ['evaluation'],
    body: evaluation.evalScoreRequest,
    answer: evaluation.scoreReport,
  });

  post('/v1/admin/eval/replay', 'eval.startReplay', {
    operationId: 'eval_replay',
    summary: 'Replay queries in two arms and compare them: queries with feedback, or queries made from pages',
    description: 'A durable job. It may call paid providers.',
    tags: ['evaluation'],
    body: evaluation.evalReplayRequest,
    answer: evaluation.evalReplayAcceptedResponse,
    status: 202,
  });

  get('/v1/admin/eval/replay', 'eval.replays', {
    operationId: 'eval_replays',
    summary: 'Replays with progress and reports, newest first',
    tags: ['evaluation'],
    querystring: evaluation.evalReplaysQuery,
    answer: evaluation.evalReplayListResponse,
  });

  get('/v1/admin/eval/replay/:job_id', 'eval.replay', {
    operationId: 'eval_replay_result',
    summary: 'Progress and report of a replay',
    tags: ['evaluation'],
    answer: evaluation.evalReplayResultResponse,
  });
};
