/** Access: contract "Authentication"; runtime tokens, sessions and codes: docs/access.md. */
import { z } from 'zod';
import { datetime, storedText } from './values.ts';

export const scopeName = z.enum(['read', 'write']);
export type Scope = z.infer<typeof scopeName>;
/** Contract "Endpoints", the Scope column. */
export type RouteScope = 'public' | Scope;

export const defaultLibrary = 'default';
/** The name of a library is the name of its folder. */
export const libraryName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);

export const authToken = z.strictObject({
  name: z.string().min(1),
  library: libraryName.default(defaultLibrary),
  token: z.string().min(1),
  scopes: z.array(scopeName).min(1).default(['read', 'write']),
});
export type AuthToken = z.infer<typeof authToken>;

export const whoAmIResponse = z.strictObject({ name: z.string(), scopes: z.array(scopeName) });

const scopes = z.array(scopeName);
/** Requested scopes; both scopes by default. */
const wantedScopes = z.array(scopeName).min(1).max(2).optional();
const tokenName = storedText(100)
  .min(1)
  .regex(/^\P{Cc}+$/u, 'has a control character');

const codePurposes = ['session', 'pair'] as const;
export type CodePurpose = (typeof codePurposes)[number];

export const createCodeRequest = z.strictObject({ purpose: z.enum(codePurposes), scopes: wantedScopes });
export const codeResponse = z.strictObject({
  code: z.string(),
  purpose: z.enum(codePurposes),
  expires_at: datetime,
  url: z.string().nullable().describe('the link that makes a session; null for a code to type'),
});

/** Max length: no header can be longer. */
const presented = z.string().min(1).max(8192).optional();
export const createSessionRequest = z
  .strictObject({
    code: presented,
    token: presented,
    keep_library: z
      .boolean()
      .optional()
      .describe(
        "true: the service refuses a code of another library than the browser's session with 409, and the code stays usable",
      ),
  })
  .refine(({ code, token }) => (code === undefined) !== (token === undefined), {
    message: 'exactly one of code and token must be given',
  });

/** The unused code would switch the browser from `current_library` to `library`. */
export const otherLibraryResponse = z.strictObject({
  detail: z.string(),
  library: z.string(),
  current_library: z.string(),
});
export type OtherLibraryResponse = z.infer<typeof otherLibraryResponse>;

export function otherLibrary(current_library: string, library: string): OtherLibraryResponse {
  const detail = `the code is of the library ${library}; this browser is signed in to ${current_library}`;
  return { detail, library, current_library };
}

export const sessionResponse = z.strictObject({
  id: z.string(),
  name: z.string().describe('of the token that it came from'),
  library: z.string(),
  scopes,
  created_at: datetime,
  last_used_at: datetime,
  expires_at: datetime,
  user_agent: z.string().nullable(),
  current: z.boolean(),
});
export type SessionResponse = z.infer<typeof sessionResponse>;
export const sessionListResponse = z.strictObject({ sessions: z.array(sessionResponse) });

const tokenResponse = z.strictObject({
  id: z.string(),
  name: z.string(),
  scopes,
  source: z.enum(['settings', 'created', 'paired']),
  origin: z.string().nullable().describe('of the extension that was paired'),
  created_at: datetime.nullable(),
  last_used_at: datetime.nullable().describe('of one from the settings: since the start'),
  current: z.boolean(),
});
export type TokenResponse = z.infer<typeof tokenResponse>;
export const tokenListResponse = z.strictObject({ tokens: z.array(tokenResponse) });
export const createTokenRequest = z.strictObject({ name: tokenName, scopes: wantedScopes });
export const createdTokenResponse = tokenResponse.extend({ token: z.string().describe('shown this once') });

export const pairRequest = z.strictObject({ code: z.string().min(1).max(100), name: tokenName });
export const pairResponse = z.strictObject({ token: z.string(), name: z.string(), library: z.string(), scopes });
