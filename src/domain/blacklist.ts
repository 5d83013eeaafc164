/** Contract "Blacklist". */
import { z } from 'zod';
import { datetime, maxDomainLength, maxForgottenUrlLength, maxReasonLength, storedText } from './values.ts';

export const ruleKind = z.enum(['url', 'domain']);
export type RuleKind = z.infer<typeof ruleKind>;

export const ruleSettings = z.object({
  tracking_params: z.array(z.string()).readonly(),
  keep_params: z.record(z.string(), z.array(z.string()).readonly()).readonly(),
  known_addresses: z.boolean().optional(),
});
export type RuleSettings = z.infer<typeof ruleSettings>;

export const forgetRequest = z
  .strictObject({
    url: storedText(maxForgottenUrlLength).nullable().optional(),
    domain: storedText(maxDomainLength).nullable().optional(),
    reason: storedText(maxReasonLength).nullable().optional(),
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

export const tombstoneStates = ['pending', 'deleted', 'verified'] as const;
export type TombstoneState = (typeof tombstoneStates)[number];

export interface Tombstone {
  page_no: number;
  state: TombstoneState;
  job_no: number;
  /** The page's last labels. Once verified, no index file contains them. */
  first_label: number;
  chunk_count: number;
  forgotten_at: number;
}
