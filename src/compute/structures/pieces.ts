/** Bytes or texts that arrive in pieces. */

/** The same pieces. Errors: `tooLarge` once their lengths sum to more than `max`. */
export async function* boundedPieces<Piece extends { length: number }>(
  pieces: AsyncIterable<Piece>,
  max: number,
  tooLarge: () => Error,
): AsyncGenerator<Piece> {
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > max) throw tooLarge();
    yield piece;
  }
}

export async function collected<Piece>(pieces: AsyncIterable<Piece>): Promise<Piece[]> {
  const all: Piece[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}
