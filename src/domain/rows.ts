/** Rows of an answer, computed while it is written: all rows at once would take too much memory. */
export type Rows<Row> = AsyncIterable<Row>;

/** A long text read in parts while the answer is written; no part splits a surrogate pair. */
export class TextInParts {
  readonly parts: AsyncIterable<string>;

  constructor(parts: AsyncIterable<string>) {
    this.parts = parts;
  }
}

export type InRows<Response> = {
  [Name in keyof Response]: Response[Name] extends (infer Row)[] ? Rows<Row> : Response[Name];
};
