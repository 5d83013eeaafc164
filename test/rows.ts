/** All rows of a list that makes them one by one. */
export async function listOf<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

/** Of a page of which nothing is known that is told with it. */
export const noDetails = {
  author: null,
  published_at: null,
  language: null,
  site_name: null,
  read_minutes: null,
  is: [],
};

/** One field of each row. */
export const pluck = <Row, Key extends keyof Row>(rows: readonly Row[], key: Key): Row[Key][] =>
  rows.map((row) => row[key]);
