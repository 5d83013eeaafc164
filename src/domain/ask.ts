/** Questions answered from the pages that the user has read: contract of `POST /v1/ask` (docs/asking.md). */

import { z } from 'zod';
import { pageName, visitedPage } from './page.ts';
import { noResults, searchRequest } from './search.ts';
import { datetime } from './values.ts';

const { filters, operators, tz } = searchRequest.shape;

export const maxQuestion = 4000;
const questionText = z
  .string()
  .min(1)
  .max(maxQuestion)
  .regex(/[^\s\p{C}]/u, 'must not be blank');

export const askRequest = z.strictObject({
  question: questionText,
  filters,
  operators,
  tz,
  /** Earlier turns, oldest first, which a follow-up question may refer to. */
  turns: z
    .array(z.strictObject({ question: questionText, answer: z.string().max(8000) }))
    .max(8)
    .default([]),
  sentences: z.int().min(1).max(5).default(3),
  /** Whether the language model of `llm.*` also answers. It gets passages, so the scope `write` is needed. */
  use_model: z.boolean().default(false),
  /** With `use_model`: report in `sent` what the model would get, and send nothing. */
  preview: z.boolean().default(false),
});
export type AskRequest = z.infer<typeof askRequest>;

/** A part of a stored text. */
const quote = z.strictObject({
  /** Number from 1, in the order of the list. */
  number: z.int(),
  ...visitedPage,
  chunk_id: z.string(),
  /** UTF-16 offsets in the page's text. */
  char_start: z.int(),
  char_end: z.int(),
  text: z.string(),
  /** The page's URL with a text fragment. */
  link: z.string(),
  best: z.boolean(),
});
export type Quote = z.infer<typeof quote>;

const askedPage = z.strictObject({
  ...visitedPage,
  visit_count: z.int(),
  /** Visits within the period, newest first, at most 10. */
  visited_at: z.array(datetime),
  link: z.string(),
});
export type AskedPage = z.infer<typeof askedPage>;

const place = { host: z.string(), model: z.string().nullable() };

const sent = z.strictObject({
  ...place,
  passages: z.array(z.strictObject({ number: z.int(), ...pageName, chunk_id: z.string(), text: z.string() })),
  /** Number of pages left out because of `llm.exclude`. */
  excluded_pages: z.int(),
  /** Estimated number of tokens of the passages. */
  tokens: z.int(),
  max_tokens: z.int(),
});
export type Sent = z.infer<typeof sent>;

/** Plain text of the model, with the numbers of its `quotations`. */
const sentence = z.strictObject({ text: z.string(), quotations: z.array(z.int()) });

const generated = z.strictObject({
  /**
   * `empty`: no text; `unverified`: no sentence with a verified quotation; `late`: incomplete after `llm.timeout_s`;
   * `failed`: unreachable or refused. After `late` and `failed` there may be sentences.
   */
  state: z.enum(['answered', 'not_in_reading', 'empty', 'unverified', 'late', 'failed']),
  detail: z.string().nullable(),
  sentences: z.array(sentence),
  /** Each quotation is verbatim in a passage that was sent. */
  quotations: z.array(quote),
  /** Number of sentences without a verified quotation. */
  dropped: z.int(),
});
export type Generated = z.infer<typeof generated>;

export const askResponse = z.strictObject({
  /** `quotes`: sentences of pages; `pages`: a list, as for "when did I read …"; `none`: no page is about it. */
  kind: z.enum(['quotes', 'pages', 'none']),
  /** The question as searched. A follow-up question is completed. */
  question: z.string(),
  /** Grouped by page, in text order. */
  quotes: z.array(quote),
  pages: z.array(askedPage),
  /** Period of visits that the question names. */
  period: z.strictObject({ after: datetime.nullable(), before: datetime.nullable() }).nullable(),
  /** As in a search. Null if there are results, although none is relevant enough. */
  no_results: noResults.nullable(),
  language_model: z.strictObject(place).nullable(),
  sent: sent.nullable(),
  generated: generated.nullable(),
  timing_ms: z.record(z.string(), z.number()),
});
export type AskResponse = z.infer<typeof askResponse>;

/** `quotes`: the answer so far; `sentence`: a verified one with its quotations; then the whole answer. */
export type AskEvent =
  | { event: 'quotes'; data: AskResponse }
  | { event: 'sentence'; data: { text: string; quotations: Quote[] } };
