/** Contract "Jobs". */
import { z } from 'zod';
import {
  jobListQuery,
  jobListResponse,
  jobResponse,
  jobRetryBatchRequest,
  jobRetryBatchResponse,
} from '../../domain/job.ts';
import { pathText } from '../../domain/texts.ts';
import { needsRead, needsWrite, type RouteGroup } from '../http-app.ts';
import { errorAnswers } from '../openapi.ts';

export const jobRoutes: RouteGroup = (app, { asking }) => {
  app.get(
    '/v1/jobs',
    needsRead({
      operationId: 'list_jobs',
      summary: 'Jobs, newest first',
      querystring: jobListQuery,
      response: { 200: jobListResponse, ...errorAnswers(422) },
    }),
    async ({ query }, reply) => asking(reply)('job.list', query),
  );

  app.post(
    '/v1/jobs/retry',
    needsWrite({
      operationId: 'retry_jobs',
      summary: 'Retry dead jobs, by ids or by kind',
      body: jobRetryBatchRequest,
      response: { 200: jobRetryBatchResponse, ...errorAnswers(422) },
    }),
    async ({ body }, reply) => asking(reply)('job.retryBatch', body),
  );

  app.post(
    '/v1/jobs/:job_id/retry',
    needsWrite({
      operationId: 'retry_job',
      summary: 'Retry a dead job',
      params: z.object({ job_id: pathText }),
      response: { 200: jobResponse, ...errorAnswers(404, 409) },
    }),
    async ({ params }, reply) => asking(reply)('job.retry', params),
  );
};
