/** The text of a file to import, in pieces: read twice, as its encoding is told from all of it. Holds one piece at a time. */
import { createReadStream } from 'node:fs';
import { EncodingGuess, streamDecoder } from '../compute/text/decode-text.ts';

const pieceBytes = 1 << 18;

/** Without a byte order mark. */
export async function* textOfFile(file: string): AsyncGenerator<string> {
  const pieces = () => createReadStream(file, { highWaterMark: pieceBytes });
  const guess = new EncodingGuess(null, true);
  for await (const piece of pieces()) guess.add(piece);
  const decoder = streamDecoder(guess.encoding());
  for await (const piece of pieces()) yield decoder.next(piece);
  yield decoder.end();
}
