/** Forgetting and the blacklist: the contract's "Blacklist" bodies. */
import { z } from 'zod';
import { datetime } from './ids.ts';

export const ruleKind = z.enum(['url', 'domain']);
export type RuleKind = z.infer<typeof ruleKind>;

/** Text as it comes from outside and is stored. */
const note = z.string().refine((text) => text === text.toWellFormed(), {
  message: 'must be well-formed Unicode: it has a lone surrogate',
});

export const forgetRequest = z
  .strictObject({
    url: note.nullable().optional(),
    domain: note.nullable().optional(),
    reason: note.nullable().optional(),
  })
  .refine(({ url, domain }) => (url == null) !== (domain == null), {
    message: 'exactly one of url and domain must be given',
  });
export type ForgetRequest = z.infer<typeof forgetRequest>;

export const forgetResponse = z.strictObject({
  blacklist_id: z.string(),
  pattern: z.string(),
  kind: ruleKind,
  pages_purged: z.int(),
  vector_deletes_queued: z.int(),
});
export type ForgetResponse = z.infer<typeof forgetResponse>;

export const blacklistEntry = z.strictObject({
  id: z.string(),
  pattern: z.string(),
  kind: ruleKind,
  reason: z.string().nullable(),
  created_at: datetime,
});
export const blacklistResponse = z.strictObject({ entries: z.array(blacklistEntry) });
export type BlacklistResponse = z.infer<typeof blacklistResponse>;
