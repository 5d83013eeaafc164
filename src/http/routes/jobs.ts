import * as job from '../../domain/job.ts';
import type { RouteGroup } from '../http-app.ts';
import { askingRoutes } from './asking-routes.ts';

export const jobRoutes: RouteGroup = (app, context) => {
  const { get, post } = askingRoutes(app, context);

  get('/v1/jobs', 'job.list', {
    operationId: 'list_jobs',
    summary: 'Jobs, newest first',
    querystring: job.jobListQuery,
    answer: job.jobListResponse,
  });

  post('/v1/jobs/retry', 'job.retryBatch', {
    operationId: 'retry_jobs',
    summary: 'Retry dead jobs, by ids or by kind',
    body: job.jobRetryBatchRequest,
    answer: job.jobRetryBatchResponse,
  });

  post('/v1/jobs/:job_id/retry', 'job.retry', {
    operationId: 'retry_job',
    summary: 'Retry a dead job',
    answer: job.jobResponse,
    errors: [409],
  });
};
