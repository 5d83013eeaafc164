/** A list of an answer whose rows are made one by one while the answer is written, since all of them at once would take too much memory. */
export type Rows<Row> = AsyncIterable<Row>;

/** A long text of an answer that is read part by part while the answer is written; no part ends inside a surrogate pair. */
export class TextInParts {
  readonly parts: AsyncIterable<string>;

  constructor(parts: AsyncIterable<string>) {
    this.parts = parts;
  }
}

/** An answer whose lists are rows. */
export type InRows<Response> = {
  [Name in keyof Response]: Response[Name] extends (infer Row)[] ? Rows<Row> : Response[Name];
};
