import * as cluster from '../../domain/cluster.ts';
import type { RouteGroup } from '../http-app.ts';
import { askingRoutes } from './asking-routes.ts';

export const clusterRoutes: RouteGroup = (app, context) => {
  const { get, post } = askingRoutes(app, context);

  get('/v1/clusters', 'cluster.list', {
    operationId: 'list_clusters',
    summary: 'Topics, largest first',
    description: 'Deleted clusters are listed only with `include_tombstoned`.',
    querystring: cluster.clusterListQuery,
    answer: cluster.clusterListResponse,
  });

  get('/v1/clusters/runs', 'cluster.runs', {
    operationId: 'list_cluster_runs',
    summary: 'Clustering runs, newest first',
    querystring: cluster.clusterRunsQuery,
    answer: cluster.clusterRunsResponse,
  });

  get('/v1/clusters/projection', 'cluster.projection', {
    operationId: 'cluster_projection',
    summary: 'Map of the pages of a run',
    description: 'Points of the last ten runs are kept; for older runs the list is empty.',
    querystring: cluster.clusterProjectionQuery,
    answer: cluster.clusterProjectionResponse,
    errors: [404],
  });

  get('/v1/clusters/:cluster_id', 'cluster.get', {
    operationId: 'cluster_pages',
    summary: 'A topic and its pages, most typical first',
    description: 'A deleted cluster is returned without pages.',
    querystring: cluster.clusterDetailQuery,
    answer: cluster.clusterDetailResponse,
  });

  post('/v1/clusters/recompute', 'cluster.recompute', {
    operationId: 'recompute_clusters',
    summary: 'Recompute topics',
    description: 'A durable job. Not accepted with fewer than `cluster.min_pages` pages.',
    answer: cluster.recomputeResponse,
    status: 202,
    errors: [409],
  });
};
