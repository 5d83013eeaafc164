/** Contract "Compare". */
import { z } from 'zod';
import { sentModelId } from './model.ts';
import { pageName } from './page.ts';
import { exactMatch } from './search.ts';

export const compareRequest = z.strictObject({
  query: z.string().min(1).max(4000),
  models: z.array(sentModelId).min(2).max(5),
  k: z.int().min(1).max(100).default(10),
  candidates: z.int().min(1).max(1000).default(100),
  rerank: z.boolean().default(true),
});
export type CompareRequest = z.infer<typeof compareRequest>;

const comparedPage = z.strictObject({
  ...pageName,
  score: z.number(),
  /** Results are ordered as in a search: by this (`url` and `title` first, then `host`), then by score. */
  exact: exactMatch.nullable(),
});
const compareAgreement = z.strictObject({
  model_a: z.string(),
  model_b: z.string(),
  jaccard_at_k: z.number(),
  rbo: z.number(),
  kendall_tau: z.number().nullable(),
  intersection_size: z.int(),
});
export type CompareAgreement = z.infer<typeof compareAgreement>;
export const compareResponse = z.strictObject({
  compare_id: z.string(),
  query: z.string(),
  runs: z.array(z.strictObject({ model: z.string(), results: z.array(comparedPage) })),
  agreement: z.array(compareAgreement),
});
export type CompareResponse = z.infer<typeof compareResponse>;
