/** The tools that change something: contract "MCP tool surface". A setting lists them; the token decides. */
import { z } from 'zod';
import { type ForgetResponse, forgetRequest } from '../domain/blacklist.ts';
import { ingestPageRequest, type PageStatus } from '../domain/page.ts';
import { createWatchRequest, updateWatchRequest, type WatchResponse, type WatchRunAccepted } from '../domain/watch.ts';
import { bytesOf, cut, watchLine, withoutEmpty } from './answer.ts';
import { defineTool, pathPart, type Tool } from './tool.ts';

const adds = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

const watchId = pathPart.describe('Id from list_watches.');

const addPage = defineTool({
  name: 'add_page',
  method: 'POST',
  url: '/v1/pages',
  description:
    'Add a page to the reading history, by its URL alone (the service then fetches it) or with its text. For a known page, a visit is counted.',
  hints: { ...adds, openWorldHint: true },
  input: z.looseObject({
    url: ingestPageRequest.shape.url.describe('Address of the page.'),
    title: ingestPageRequest.shape.title.describe('Its title.'),
    body_extracted: ingestPageRequest.shape.body_extracted.describe(
      'Its readable text. If absent, the service fetches the page.',
    ),
    fetched_at: ingestPageRequest.shape.fetched_at.describe(
      'When it was read, with the offset from UTC; now by default.',
    ),
    metadata: ingestPageRequest.shape.metadata.describe('Other facts about it, such as author or tags.'),
  }),
  answer: ({ page_id, status, ...rest }: { page_id: string; status: PageStatus; revisit?: true }) => ({
    said:
      rest.revisit === true
        ? 'The page was known: a visit is counted, its text is unchanged.'
        : 'The page is queued: page_status reports when it is searchable.',
    lines: [{ page_id, status, ...rest }],
  }),
});

const forget = defineTool({
  name: 'forget',
  method: 'POST',
  url: '/v1/forget',
  description: 'Erase a page, or all pages of a domain, from the reading history, and block it. This cannot be undone.',
  hints: { ...adds, destructiveHint: true, idempotentHint: true },
  input: z.looseObject({
    url: forgetRequest.shape.url.describe('Address of the page to forget. Either this or domain.'),
    domain: forgetRequest.shape.domain.describe('Domain to forget, including its subdomains. Either this or url.'),
    reason: forgetRequest.shape.reason.describe('A note stored with the rule.'),
  }),
  answer: ({ blacklist_id, kind, pattern, pages_purged }: ForgetResponse) => ({
    said: `${pages_purged} ${pages_purged === 1 ? 'page is' : 'pages are'} erased, and a rule blocks it.`,
    lines: [{ blacklist_id, kind, pattern: cut(pattern, bytesOf.wholeUrl), pages_purged }],
  }),
});

const createWatch = defineTool({
  name: 'create_watch',
  method: 'POST',
  url: '/v1/watches',
  description:
    'Poll a source for new pages from now on. For a URL that is already watched, returns that watch unchanged.',
  hints: { ...adds, idempotentHint: true, openWorldHint: true },
  input: z.looseObject({
    url: createWatchRequest.shape.url.describe(
      'Address of the feed, of a page that announces one, or of a channel or playlist.',
    ),
    kind: createWatchRequest.shape.kind.describe(
      'rss for feeds; video for a channel or playlist; podcast for episodes.',
    ),
    title: createWatchRequest.shape.title.describe('Its title.'),
    interval_hours: createWatchRequest.shape.interval_hours.describe('Hours between two polls; a day by default.'),
  }),
  answer: (watch: WatchResponse) => ({ said: 'The source is watched.', lines: [watchLine(watch)] }),
});

const updateWatch = defineTool({
  name: 'update_watch',
  method: 'PATCH',
  url: '/v1/watches/:watch_id',
  description: 'Change a watch; missing fields stay unchanged.',
  hints: { ...adds, destructiveHint: true, idempotentHint: true },
  input: z.looseObject({
    watch_id: watchId,
    enabled: updateWatchRequest.shape.enabled.describe('Whether it is polled.'),
    interval_hours: updateWatchRequest.shape.interval_hours.describe('Hours between two polls.'),
    title: updateWatchRequest.shape.title.describe('Its title; null removes it.'),
  }),
  answer: (watch: WatchResponse) => ({ said: 'The watch is changed.', lines: [watchLine(watch)] }),
});

const deleteWatch = defineTool({
  name: 'delete_watch',
  method: 'DELETE',
  url: '/v1/watches/:watch_id',
  description: 'Delete a watch. Its pages stay.',
  hints: { ...adds, destructiveHint: true, idempotentHint: true },
  input: z.strictObject({ watch_id: watchId }),
  answer: () => ({ said: 'The watch is deleted; its pages stay.' }),
});

const runWatch = defineTool({
  name: 'run_watch',
  method: 'POST',
  url: '/v1/watches/:watch_id/run',
  description: 'Poll a source now; the next scheduled poll is one interval later.',
  hints: { ...adds, openWorldHint: true },
  input: z.strictObject({ watch_id: watchId }),
  answer: ({ watch_id, job_id }: WatchRunAccepted) => ({
    said: 'The poll is queued.',
    lines: [withoutEmpty({ watch_id, job_id })],
  }),
});

export const changingTools: readonly Tool[] = [addPage, forget, createWatch, updateWatch, deleteWatch, runWatch];
