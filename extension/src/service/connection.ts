/** The service's address and token. In the extension's database, not in `storage.local`, which every page's process may read. */
import * as z from 'zod/mini';

export const connection = z.strictObject({
  /** Without path and trailing slash. */
  address: z.url({ protocol: /^https?$/ }),
  token: z.string().check(z.minLength(1)),
  name: z.string(),
  library: z._default(z.nullable(z.string()), null),
});
export type Connection = z.infer<typeof connection>;
