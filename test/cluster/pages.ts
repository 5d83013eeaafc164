/** Pages for tests of the cluster, told apart by their name. */
export const visits = { first_seen_at: 1, last_seen_at: 1, visit_count: 1 };
export const policy = { at: 1, max_attempts: 5 };

export function givenPage(name: string, body = `the text of ${name}`) {
  const url = `https://example.com/${name}`;
  return {
    ...{ canonical_url: url, original_url: url, domain: 'example.com', title: name, body, content_hash: name },
    ...{ sections: [], source: null, metadata: null },
  };
}
