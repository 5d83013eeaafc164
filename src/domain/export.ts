/** The lines of an export (JSONL) with all user data. The last line counts the others, to detect truncation. */
import { z } from 'zod';
import { ruleKind, ruleSettings } from './blacklist.ts';
import { datetime } from './values.ts';
import { watchConfig, watchKind } from './watch.ts';

export const exportVersion = 1;
/** More visits than a page's row can store (compute/structures/visit-times.ts). */
const maxExportedVisits = 50_000;

const exportHead = z.object({
  kind: z.literal('readback_export'),
  version: z.literal(exportVersion),
  exported_at: datetime,
});

const section = z.object({
  char_start: z.int().min(0),
  title: z.string().nullable(),
  start_s: z.number().nullable().optional(),
});

export const exportLine = z.discriminatedUnion('kind', [
  exportHead,
  z.object({
    kind: z.literal('rule'),
    pattern: z.string(),
    rule_kind: ruleKind,
    canonicalized_by: z.array(ruleSettings).optional(),
    reason: z.string().nullable(),
    created_at: datetime,
  }),
  z.object({
    kind: z.literal('watch'),
    url: z.string(),
    watch_kind: watchKind,
    identity: z.string(),
    title: z.string().nullable(),
    enabled: z.boolean(),
    interval_hours: z.int().min(1),
    config: watchConfig.nullable(),
    created_at: datetime,
  }),
  z.object({
    kind: z.literal('page'),
    canonical_url: z.string(),
    original_url: z.string(),
    domain: z.string(),
    title: z.string().nullable(),
    body_text: z.string().nullable(),
    content_hash: z.string().nullable(),
    sections: z.array(section),
    source: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    first_seen_at: datetime,
    last_seen_at: datetime,
    visit_count: z.int().min(1),
    /** All visits, newest first. Absent if there are at most two. */
    visits: z.array(datetime).max(maxExportedVisits).optional(),
    /** Of visits between them one is listed in so many ms; absent if all are. */
    visit_period_ms: z.int().min(1).optional(),
  }),
  /** Feedback on a search result. Import skips it, because its search is not exported. */
  z.object({
    kind: z.literal('feedback'),
    query: z.string(),
    canonical_url: z.string(),
    relevant: z.boolean(),
    at: datetime,
  }),
  z.object({ kind: z.literal('end'), lines: z.int() }),
]);
export type ExportLine = z.infer<typeof exportLine>;
export type PageLine = Extract<ExportLine, { kind: 'page' }>;

/** File in a folder of Markdown files, with all lines except those of pages. */
export const exportFile = 'readback.jsonl';

const facts = Object.keys(exportLine.options.find(({ shape }) => shape.kind.value === 'page')?.shape ?? {});
const plainKey = /^[a-z][\w-]*$/i;

/** A page as a Markdown file: its facts and metadata as front matter, each a line of JSON, and its text. */
export function pageFile({ kind: _, body_text, metadata, ...line }: PageLine): string {
  const own = Object.entries(metadata ?? {}).filter(([key]) => plainKey.test(key) && !facts.includes(key));
  const rest = Object.entries(metadata ?? {}).filter(([key]) => !plainKey.test(key) || facts.includes(key));
  const isEmpty = metadata !== null && own.length === 0;
  const matter = [
    ...Object.entries(line).filter(([, value]) => value !== undefined),
    ...own,
    ...(rest.length > 0 || isEmpty ? [['metadata', Object.fromEntries(rest)] as const] : []),
    ...(body_text === null ? [['body_text', null] as const] : []),
  ];
  return `---\n${matter.map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join('')}---\n\n${body_text ?? ''}`;
}

/** The line of such a file, not validated. Errors: SyntaxError. */
export function pageOfFile(text: string): unknown {
  const end = text.indexOf('\n---\n');
  if (!text.startsWith('---\n') || end < 0) throw new SyntaxError('no front matter');
  const matter = text
    .slice(4, end)
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(': ')), JSON.parse(line.slice(line.indexOf(': ') + 2))] as const);
  const [line, metadata] = [true, false].map((is) =>
    Object.fromEntries(matter.filter(([key]) => facts.includes(key) === is)),
  );
  const all = { ...metadata, ...line.metadata };
  const hasNone = Object.keys(all).length === 0 && line.metadata === undefined;
  return { kind: 'page', body_text: text.slice(end + 6), ...line, metadata: hasNone ? null : all };
}
