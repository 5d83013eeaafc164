/** Uploaded files for import, by the importers of `readback import`. */
import { Readable } from 'node:stream';
import { errorCodes } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { boundedPieces } from '../../compute/structures/pieces.ts';
import { importListResponse, importPreviewResponse, importQuery, importResponse } from '../../domain/import.ts';
import { described, errorAnswers, errorResponse, type RouteGroup } from '../http-app.ts';
import { bodyInvalid, httpValidationError } from '../request-invalid.ts';
import { askingRoutes } from './asking-routes.ts';

/** Max bytes of a file. Ten years of browser history have a tenth of it. */
const fileLimit = 1024 ** 3;
const fileType = 'application/octet-stream';

const tooLarge = () => new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();

export const importRoutes: RouteGroup = (app, context) => {
  const { asking } = context;
  const { delete: remove, get } = askingRoutes(app, context);

  app.register(async (files) => {
    files.removeAllContentTypeParsers();
    files.addContentTypeParser(fileType, (_request, body, done) => done(null, body));
    files.withTypeProvider<ZodTypeProvider>().post(
      '/v1/imports',
      {
        bodyLimit: fileLimit,
        config: { scope: 'write', takesFile: true, namesCauseInWords: true },
        schema: {
          operationId: 'create_import',
          summary: 'Import bookmarks, histories or read-it-later lists from a file',
          description:
            'The body is the file, as `application/octet-stream`, at most 1 GB. The format is detected by its content. The answer comes when the file is received and recognised. The same file sent again continues an interrupted import; 409 while it is running. With `dry_run` the answer is a preview, and nothing is stored.',
          querystring: importQuery,
          consumes: [fileType],
          body: z.unknown(),
          response: {
            200: importPreviewResponse,
            202: importResponse,
            422: described(422, z.union([httpValidationError, errorResponse])),
            ...errorAnswers(409, 413, 507),
          },
        },
      },
      async (request, reply) => {
        try {
          const { body } = request;
          if (Number(request.headers['content-length'] ?? 0) > fileLimit) throw tooLarge();
          if (!(body instanceof Readable)) throw bodyInvalid(`The body must be a file, as ${fileType}`, 'missing');
          const { dry_run, ...query } = request.query;
          const upload = { ...query, bytes: boundedPieces<Buffer>(body, fileLimit, tooLarge) };
          if (dry_run) return await reply.code(200).send(await asking(reply)('import.preview', upload));
          return await reply.code(202).send(await asking(reply)('import.begin', upload));
        } catch (error) {
          if (!request.raw.readableEnded) reply.header('connection', 'close');
          throw error;
        }
      },
    );
  });

  get('/v1/imports', 'import.list', {
    operationId: 'list_imports',
    summary: 'Imports since the start of the service, newest first, at most 50',
    answer: importListResponse,
  });

  get('/v1/imports/:import_id', 'import.get', {
    operationId: 'get_import',
    summary: 'Progress of an import, and skipped items',
    answer: importResponse,
  });

  remove('/v1/imports/:import_id', 'import.stop', {
    operationId: 'stop_import',
    summary: 'Stop an import; imported pages stay',
    answer: z.null(),
    status: 204,
  });
};
