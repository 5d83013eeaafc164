import { z } from 'zod';
import * as watch from '../../domain/watch.ts';
import type { RouteGroup } from '../http-app.ts';
import { askingRoutes } from './asking-routes.ts';

export const watchRoutes: RouteGroup = (app, context) => {
  const { delete: remove, get, patch, post } = askingRoutes(app, context);

  get('/v1/watches', 'watch.list', {
    operationId: 'list_watches',
    summary: 'All watches, oldest first',
    querystring: watch.watchListQuery,
    answer: watch.watchListResponse,
  });

  get('/v1/watches/:watch_id', 'watch.get', {
    operationId: 'get_watch',
    summary: 'A watch with the outcome of its latest poll',
    answer: watch.watchResponse,
  });

  post('/v1/watches', 'watch.create', {
    operationId: 'create_watch',
    summary: 'Create a watch',
    description: 'For a URL that is already watched, returns the existing watch unchanged.',
    body: watch.createWatchRequest,
    answer: watch.watchResponse,
    status: 201,
  });

  post('/v1/watches/check', 'watch.check', {
    operationId: 'check_watch',
    summary: 'Try a source before watching it',
    description:
      'Fetches it once and stores nothing: its title and number of items, the feed that a page names, the watch that has it already, or the `reason` why it cannot be watched.',
    body: watch.checkWatchRequest,
    answer: watch.watchCheckResponse,
  });

  patch('/v1/watches/:watch_id', 'watch.update', {
    operationId: 'update_watch',
    summary: 'Change a watch',
    description:
      'Missing fields stay unchanged. `null` clears `title` and `config`. A new interval counts from the last run.',
    body: watch.updateWatchRequest,
    answer: watch.watchResponse,
  });

  remove('/v1/watches/:watch_id', 'watch.delete', {
    operationId: 'delete_watch',
    summary: 'Delete a watch; its pages stay',
    answer: z.null(),
    status: 204,
  });

  post('/v1/watches/:watch_id/run', 'watch.run', {
    operationId: 'run_watch',
    summary: 'Poll now; the next scheduled poll is one interval later',
    answer: watch.watchRunAcceptedResponse,
    status: 202,
  });
};
