/** What the service tells of itself: contract "Admin and diagnostics". */
import { backupListResponse, backupResponse } from '../../domain/backup.ts';
import { diskResponse } from '../../domain/disk.ts';
import {
  adminConfigResponse,
  metricsSummaryResponse,
  metricsTimeseriesResponse,
  summaryQuery,
  timeseriesQuery,
} from '../../domain/metrics.ts';
import { holderOf, type RouteGroup } from '../http-app.ts';
import { errorAnswers } from '../openapi.ts';

export const adminRoutes: RouteGroup = (app, { asking, backups, shownSettings, capabilities }) => {
  app.post(
    '/v1/admin/backups',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'create_backup',
        summary: 'Make a backup now, as `readback backup` does',
        description:
          'Answered when it is made, in a folder of `backup.dir`; it is made all the same when the client does not wait. 409 while another one is made.',
        tags: ['diagnostics'],
        response: { 201: backupResponse, ...errorAnswers(409) },
      },
    },
    async (request, reply) => {
      reply.raw.socket?.setTimeout(0); // a large store takes minutes
      return reply.code(201).send(await backups.make(holderOf(request).library));
    },
  );

  app.get(
    '/v1/admin/backups',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_backups',
        summary: 'Backups that the service was asked for, newest first, at most 100',
        tags: ['diagnostics'],
        response: { 200: backupListResponse },
      },
    },
    async (request) => backups.list(holderOf(request).library),
  );

  app.get(
    '/v1/admin/metrics/timeseries',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'metrics_timeseries',
        summary: 'What a metric was and is',
        description:
          'One point for each step (seconds) with a snapshot, at the beginning of the step: the mean of a gauge, the last value of anything else. A metric that is not known has no series.',
        tags: ['diagnostics'],
        querystring: timeseriesQuery,
        response: { 200: metricsTimeseriesResponse, ...errorAnswers(422) },
      },
    },
    async ({ query }, reply) => asking(reply)('metrics.timeseries', query),
  );

  app.get(
    '/v1/admin/metrics/summary',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'metrics_summary',
        summary: 'The numbers to look at first',
        description: '`since` bounds the latencies only; counters are of this process.',
        tags: ['diagnostics'],
        querystring: summaryQuery,
        response: { 200: metricsSummaryResponse, ...errorAnswers(422) },
      },
    },
    async ({ query }, reply) => asking(reply)('metrics.summary', query),
  );

  app.get(
    '/v1/admin/disk',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'disk_usage',
        summary: 'What the library takes on the disk, part by part, and what is left there',
        description: 'The folder is walked for each request. Backups are in a folder of their own.',
        tags: ['diagnostics'],
        response: { 200: diskResponse },
      },
    },
    async (_request, reply) => asking(reply)('disk.usage', {}),
  );

  app.get(
    '/v1/admin/config',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'admin_config',
        summary: 'Every setting, secrets redacted',
        description: '`capabilities` are the programs beside the service that it can use, with their versions.',
        tags: ['diagnostics'],
        response: { 200: adminConfigResponse },
      },
    },
    async (request) => {
      const { settings, mutability } = shownSettings(holderOf(request).library);
      return { settings: { ...settings, capabilities: await capabilities() }, mutability };
    },
  );
};
