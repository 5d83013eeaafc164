/** Clusters: contract "Clusters". */
import { z } from 'zod';
import * as cluster from '../../domain/cluster.ts';
import { pathText } from '../../domain/texts.ts';
import type { RouteGroup } from '../http-app.ts';
import { withRows } from '../json-answer.ts';
import { errorAnswers } from '../openapi.ts';

export const clusterRoutes: RouteGroup = (app, { asking }) => {
  app.get(
    '/v1/clusters',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_clusters',
        summary: 'Topics of what was read, the largest first',
        description: 'Clusters that are gone are listed only when they are asked for.',
        tags: ['clusters'],
        querystring: cluster.clusterListQuery,
        response: { 200: cluster.clusterListResponse, ...errorAnswers(422) },
      },
    },
    async ({ query }, reply) => asking(reply)('cluster.list', query),
  );

  app.get(
    '/v1/clusters/runs',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_cluster_runs',
        summary: 'Runs of the clustering, newest first',
        tags: ['clusters'],
        querystring: cluster.clusterRunsQuery,
        response: { 200: cluster.clusterRunsResponse, ...errorAnswers(422) },
      },
    },
    async ({ query }, reply) => asking(reply)('cluster.runs', query),
  );

  app.get(
    '/v1/clusters/projection',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'cluster_projection',
        summary: 'Pages of a run as points on a plane, near ones near',
        description: 'Points are kept for the last ten runs; of older ones the list is empty.',
        tags: ['clusters'],
        querystring: cluster.clusterProjectionQuery,
        response: { 200: cluster.clusterProjectionResponse, ...errorAnswers(404, 422) },
      },
    },
    async ({ query }, reply) => asking(reply)('cluster.projection', query),
  );

  app.get(
    '/v1/clusters/:cluster_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'cluster_pages',
        summary: 'A topic and its pages, the surest first',
        description: 'A cluster that is gone is still answered, without pages.',
        tags: ['clusters'],
        params: z.object({ cluster_id: pathText }),
        querystring: cluster.clusterDetailQuery,
        response: { 200: cluster.clusterDetailResponse, ...errorAnswers(404, 422) },
      },
    },
    async ({ params, query }, reply) => withRows(await asking(reply)('cluster.get', { ...params, ...query })),
  );

  app.post(
    '/v1/clusters/recompute',
    {
      config: { scope: 'write' },
      schema: {
        operationId: 'recompute_clusters',
        summary: 'Find the topics anew',
        description: 'A durable job. Not accepted below `cluster.min_pages` pages.',
        tags: ['clusters'],
        response: { 202: cluster.recomputeResponse, ...errorAnswers(409) },
      },
    },
    async (_request, reply) => reply.code(202).send(await asking(reply)('cluster.recompute', {})),
  );
};
