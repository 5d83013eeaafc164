/** The console's files, for everybody: they hold nothing of anybody's. What they may do in a browser is bound by their headers. */
import { join } from 'node:path';
import send, { type SendOptions } from '@fastify/send';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteGroup } from '../http-app.ts';

/** Nothing from elsewhere, nothing written into the page itself, in no frame. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const notBuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>readback</title>
<h1>readback is running</h1>
<p>Its console has not been built here. <code>npm run build</code> builds it; the service need not be started again.</p>
<p>The API is at <code>/v1</code>, its document at <code>/openapi.json</code>.</p>
</html>
`;

/** Names of assets change with their content. */
const assetCaching = 'public, max-age=31536000, immutable';
const pageCaching = 'no-cache';

export const consoleRoutes: RouteGroup = (app, { consoleDir }) => {
  const pages: SendOptions = { root: consoleDir, cacheControl: false, dotfiles: 'deny', index: false };
  const assets: SendOptions = { ...pages, root: join(consoleDir, 'assets') };

  /** Whether there is such a file. Not the reply: who awaits one waits until it is sent, and has nothing then. */
  const answerFile = async (
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    options: SendOptions,
  ): Promise<boolean> => {
    const { type, statusCode, headers, stream } = await send(request.raw, path, options);
    reply.headers(pageHeaders);
    if (type === 'file') {
      const caching = options === assets ? assetCaching : pageCaching;
      reply
        .code(statusCode)
        .headers({ ...headers, 'cache-control': caching })
        .send(stream);
    } else stream.destroy();
    return type === 'file';
  };
  const noSuchFile = { detail: 'no such file' };

  const config = { scope: 'public' } as const;
  const schema = { hide: true };
  app.get('/', { config, schema }, async (request, reply) => {
    if (!(await answerFile(request, reply, '/index.html', pages)))
      reply.code(503).type('text/html; charset=utf-8').send(notBuilt);
    return reply;
  });
  app.get('/favicon.svg', { config, schema }, async (request, reply) => {
    if (!(await answerFile(request, reply, '/favicon.svg', pages))) reply.code(404).send(noSuchFile);
    return reply;
  });
  app.get('/assets/*', { config, schema }, async (request, reply) => {
    // As it was sent: it is decoded once, by who reads the file.
    const path = request.url.split('?')[0].slice('/assets'.length);
    if (!(await answerFile(request, reply, path, assets))) reply.code(404).send(noSuchFile);
    return reply;
  });
};
