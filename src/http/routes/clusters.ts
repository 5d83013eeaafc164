/** Contract "Clusters". */
import { z } from 'zod';
import * as cluster from '../../domain/cluster.ts';
import { pathText } from '../../domain/texts.ts';
import { needsRead, needsWrite, type RouteGroup } from '../http-app.ts';
import { withRows } from '../json-answer.ts';
import { errorAnswers } from '../openapi.ts';

export const clusterRoutes: RouteGroup = (app, { asking }) => {
  app.get(
    '/v1/clusters',
    needsRead({
      operationId: 'list_clusters',
      summary: 'Topics, largest first',
      description: 'Deleted clusters are listed only with `include_tombstoned`.',
      querystring: cluster.clusterListQuery,
      response: { 200: cluster.clusterListResponse, ...errorAnswers(422) },
    }),
    async ({ query }, reply) => asking(reply)('cluster.list', query),
  );

  app.get(
    '/v1/clusters/runs',
    needsRead({
      operationId: 'list_cluster_runs',
      summary: 'Clustering runs, newest first',
      querystring: cluster.clusterRunsQuery,
      response: { 200: cluster.clusterRunsResponse, ...errorAnswers(422) },
    }),
    async ({ query }, reply) => asking(reply)('cluster.runs', query),
  );

  app.get(
    '/v1/clusters/projection',
    needsRead({
      operationId: 'cluster_projection',
      summary: 'Map of the pages of a run',
      description: 'Points of the last ten runs are kept; for older runs the list is empty.',
      querystring: cluster.clusterProjectionQuery,
      response: { 200: cluster.clusterProjectionResponse, ...errorAnswers(404, 422) },
    }),
    async ({ query }, reply) => asking(reply)('cluster.projection', query),
  );

  app.get(
    '/v1/clusters/:cluster_id',
    needsRead({
      operationId: 'cluster_pages',
      summary: 'A topic and its pages, most typical first',
      description: 'A deleted cluster is returned without pages.',
      params: z.object({ cluster_id: pathText }),
      querystring: cluster.clusterDetailQuery,
      response: { 200: cluster.clusterDetailResponse, ...errorAnswers(404, 422) },
    }),
    async ({ params, query }, reply) => withRows(await asking(reply)('cluster.get', { ...params, ...query })),
  );

  app.post(
    '/v1/clusters/recompute',
    needsWrite({
      operationId: 'recompute_clusters',
      summary: 'Recompute topics',
      description: 'A durable job. Not accepted with fewer than `cluster.min_pages` pages.',
      response: { 202: cluster.recomputeResponse, ...errorAnswers(409) },
    }),
    async (_request, reply) => reply.code(202).send(await asking(reply)('cluster.recompute', {})),
  );
};
