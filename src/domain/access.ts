/** Who may call, and what: contract "Authentication"; tokens, sessions and codes that are made at runtime: docs/access.md. */
import { z } from 'zod';
import { datetime } from './ids.ts';
import { storedText } from './texts.ts';

export const scopeName = z.enum(['read', 'write']);
export type Scope = z.infer<typeof scopeName>;
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
  scopes: z.array(scopeName).min(1).default(['read', 'write']),
});
export type AuthToken = z.infer<typeof authToken>;

export const whoAmIResponse = z.strictObject({ name: z.string(), scopes: z.array(scopeName) });

/** Effective ones of who has a credential. */
const scopes = z.array(scopeName);
/** As somebody asks for them; both without. */
const wantedScopes = z.array(scopeName).min(1).max(2).optional();
/** How a person calls a token. */
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

/** Longer than any token that a header can carry. */
const presented = z.string().min(1).max(8192).optional();
export const createSessionRequest = z
  .strictObject({ code: presented, token: presented })
  .refine(({ code, token }) => (code === undefined) !== (token === undefined), {
    message: 'exactly one of code and token must be given',
  });

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
