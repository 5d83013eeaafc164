/** Tokens and what they may do: contract "Authentication". */
import { z } from 'zod';

const scope = z.enum(['read', 'write']);
export type Scope = z.infer<typeof scope>;
/** What a route asks for: contract "Endpoints", the Scope column. */
export type RouteScope = 'public' | Scope;

/** The library that there is with nothing configured. */
export const defaultLibrary = 'default';
/** A library's name is its folder's. */
export const libraryName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);

export const authToken = z.strictObject({
  name: z.string().min(1),
  library: libraryName.default(defaultLibrary),
  token: z.string().min(1),
  scopes: z.array(scope).min(1).default(['read', 'write']),
});
export type AuthToken = z.infer<typeof authToken>;

export const whoAmIResponse = z.strictObject({ name: z.string(), scopes: z.array(scope) });
