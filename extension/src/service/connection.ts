/**
 * Where the service is, and the token that opens it. Kept in the extension's database and not in `storage.local`, which the process of
 * every web page may read: it holds a content script.
 */
import * as z from 'zod/mini';

export const connection = z.strictObject({
  /** Without a path and a slash at the end. */
  address: z.url({ protocol: /^https?$/ }),
  token: z.string().check(z.minLength(1)),
  name: z.string(),
  library: z._default(z.nullable(z.string()), null),
});
export type Connection = z.infer<typeof connection>;
