/** The console's files, public and without user data. Served from memory, so no client costs an open file. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { RouteGroup } from '../http-app.ts';

/** No other origins, no inline code, no frames. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
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

const assetCaching = 'public, max-age=31536000, immutable';
const pageCaching = 'no-cache';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'application/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

interface ConsoleFile {
  bytes: Buffer;
  type: string;
  etag: string;
}

/** The files below a folder by path, without links and hidden files. */
function filesIn(folder: string): Map<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  if (!existsSync(folder)) return files;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || entry.name.startsWith('.')) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
    const type = types[extname(path)] ?? 'application/octet-stream';
    files.set(relative(folder, path).replaceAll(sep, '/'), { bytes, type, etag });
  }
  return files;
}

export const consoleRoutes: RouteGroup = (app, { consoleDir }) => {
  const page = 'index.html';
  let files = new Map<string, ConsoleFile>();
  let builtAt = 0;
  const refresh = () => {
    const { mtimeMs = 0 } = statSync(join(consoleDir, page), { throwIfNoEntry: false }) ?? {};
    if (mtimeMs !== builtAt) files = filesIn(consoleDir);
    builtAt = mtimeMs;
  };
  refresh();

  const answerFile = (request: FastifyRequest, reply: FastifyReply, path: string, caching: string): FastifyReply => {
    reply.headers(pageHeaders);
    const file = files.get(path);
    if (file === undefined && path === page) return reply.code(503).type('text/html; charset=utf-8').send(notBuilt);
    if (file === undefined) return reply.code(404).send({ detail: 'no such file' });
    reply.headers({ 'cache-control': caching, etag: file.etag });
    if (request.headers['if-none-match']?.includes(file.etag)) return reply.code(304).send();
    return reply.type(file.type).send(file.bytes);
  };

  const config = { scope: 'public' } as const;
  const schema = { hide: true };
  app.get('/', { config, schema }, (request, reply) => {
    refresh();
    return answerFile(request, reply, page, pageCaching);
  });
  const icons = ['favicon.svg', 'icon-192.png', 'icon-512.png', 'icon-maskable.png'];
  for (const name of [...icons, 'manifest.webmanifest', 'service-worker.js'])
    app.get(`/${name}`, { config, schema }, (request, reply) => answerFile(request, reply, name, pageCaching));
  const asset = { schema: { ...schema, params: z.object({ '*': z.string() }) }, config };
  app.get('/assets/*', asset, (request, reply) =>
    answerFile(request, reply, `assets/${request.params['*']}`, assetCaching),
  );
};
