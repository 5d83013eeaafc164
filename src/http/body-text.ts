/**
 * The text of a body, read as it arrives: 64 MB that are joined first and then read as text hold the event loop for twice as long as their
 * parsing does.
 */
import { isUtf8 } from 'node:buffer';
import { errorCodes, type FastifyRequest } from 'fastify';

const { FST_ERR_CTP_BODY_TOO_LARGE, FST_ERR_CTP_INVALID_CONTENT_LENGTH } = errorCodes;
const nothing = Buffer.alloc(0);

/**
 * Read a body; null where it is no UTF-8. Errors: Fastify's for one larger than the route allows, or of another length than it says; those
 * of the stream.
 */
export function readBodyText(
  { headers, routeOptions }: FastifyRequest,
  payload: NodeJS.ReadableStream,
  done: (error: Error | null, text: string | null) => void,
): void {
  const limit = routeOptions.bodyLimit;
  const announced = headers['content-length'] === undefined ? null : Number(headers['content-length']);
  let text = '';
  /** The beginning of a character whose end is in the next piece. */
  let begun = nothing;
  let length = 0;
  let isText = true;
  const finish = (error: Error | null) => {
    payload.off('data', take).off('end', end).off('error', finish);
    done(error, error === null && isText && begun.length === 0 ? text : null);
  };
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > limit) finish(new FST_ERR_CTP_BODY_TOO_LARGE());
    else if (isText) append(piece);
  };
  const append = (piece: Buffer) => {
    const bytes = begun.length === 0 ? piece : Buffer.concat([begun, piece]);
    const whole = bytes.subarray(0, wholeCharacters(bytes));
    begun = Buffer.from(bytes.subarray(whole.length));
    isText = isUtf8(whole);
    if (isText) text += whole.toString('utf8');
  };
  const end = () => {
    finish(announced === null || length === announced ? null : new FST_ERR_CTP_INVALID_CONTENT_LENGTH());
  };
  if (announced !== null && announced > limit) finish(new FST_ERR_CTP_BODY_TOO_LARGE());
  else payload.on('data', take).on('end', end).on('error', finish).resume();
}

/** How many of the bytes are before a character that they do not end. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
