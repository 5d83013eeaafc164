/**
 * The handler of `fetch_and_index` jobs. Videos and podcast episodes become captions or transcripts; other pages:
 * 1. fetch the address without tracking parameters and credentials; follow redirects of content and `Refresh` headers
 * 2. refuse error statuses, unknown content types and walls
 * 3. read it on a thread; a recording goes to a temporary file and is transcribed
 * 4. store the text unless its final address is blacklisted; a retry that finds it stored continues here
 * 5. index it; a feed's page that can never be fetched gets the feed's content, unless its address is blacklisted
 */

import { hash } from 'node:crypto';
import { putFacts } from '../../commands/edit-pages.ts';
import {
  type FetchedPage,
  type StoredFetch,
  storeFetched,
  storeSaid,
  withFetchedFacts,
} from '../../commands/store-fetched.ts';
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import { isWallTitle } from '../../compute/extraction/recognize-wall.ts';
import type { TranscriptText } from '../../compute/transcript/transcript-text.ts';
import { addressToFetch, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { isRecording, isRecordingAddress, unnamedTypes } from '../../compute/web/content-types.ts';
import { DomainError, JobError } from '../../domain/errors.ts';
import { fileHost } from '../../domain/import.ts';
import type { Job } from '../../domain/job.ts';
import type { Page } from '../../domain/page.ts';
import { noFacts, type PageFacts } from '../../domain/page-facts.ts';
import { endsTries, FetchError, type PartialFacts } from '../../providers/fetch-error.ts';
import { type AnswerHead, statusError, type WebAnswer, type WebFetch } from '../../providers/web-fetch.ts';
import type { PageIndexer } from '../ingest/index-page.ts';
import { type Completion, type JobContext, type JobHandler, takenOver } from '../system/job-actor.ts';
import type { LibraryParts } from '../system/service.ts';
import { type ContentReader, type ContentReaders, contentTypeOf, sniffedType } from './content-readers.ts';
import type { EpisodeReader } from './read-episode.ts';
import type { OpenRecording, RecordingReader } from './read-recording.ts';
import type { VideoReader } from './read-video.ts';

interface FetchAndIndexDependencies extends Pick<LibraryParts, 'reader' | 'commit' | 'canonicalize' | 'now'> {
  fetch: WebFetch;
  readers: ContentReaders;
  readVideo: VideoReader['read'];
  episodes: EpisodeReader;
  recordings: RecordingReader;
  /** Extracts the text of a feed's content. Errors: DomainError. */
  extract: (html: string, url: string, isArticle: true) => Promise<ExtractedPage>;
  indexPage: JobHandler;
  readEntities: boolean;
  index: PageIndexer;
}

interface ReadPage {
  final: FetchedPage['final'];
  read: ExtractedPage & PageFacts;
}

const accept = 'text/html,application/xhtml+xml,application/pdf;q=0.9,text/markdown;q=0.9,text/plain;q=0.9,*/*;q=0.5';
const longestType = 100;
/** Per host, one page is fetched and one waits, so that other hosts get their turn. */
const maxAhead = 1;

export function fetchAndIndexHandler(dependencies: FetchAndIndexDependencies): JobHandler {
  const { reader, commit, fetch, readers, readVideo, episodes, recordings, canonicalize } = dependencies;
  const { extract, indexPage, index, readEntities, now } = dependencies;

  /** The canonical final address. Errors: FetchError for a blacklisted address. */
  const finalOf = (finalUrl: string): FetchedPage['final'] => {
    const final = canonicalizeUrl(finalUrl, canonicalize);
    if ('invalid' in final) throw new FetchError('bad_address', 'redirected to an invalid address');
    // The transaction checks again; this check saves reading the content.
    const address = { ...final, original_url: finalUrl };
    if (reader.blacklist.match(address) !== undefined) throw blacklisted();
    return address;
  };

  const readFromWeb = async (page: Page, context: JobContext): Promise<ReadPage> => {
    const { signal } = context;
    if (page.domain === fileHost)
      throw new FetchError('bad_address', 'a local file cannot be fetched', { permanent: true });
    // Avoids a request for a recording that cannot be transcribed now.
    if (isRecordingAddress(page.canonical_url)) recordings.refuse(page);
    const opened: { recording: OpenRecording | null } = { recording: null };
    try {
      let answer = await fetch(addressToFetch(page, canonicalize), {
        signal,
        maxAhead,
        headers: { accept },
        admit: (head, url) => {
          const { type } = contentTypeOf(head.headers['content-type']);
          if (!isSuccess(head) || !isRecording(type, url)) return admit(readers, head);
          opened.recording = recordings.open(page);
          return opened.recording.sink;
        },
      });
      for (;;) {
        const refusal = await refusalOf(answer, readers, signal);
        if (refusal !== null) throw refusal;
        const final = finalOf(answer.finalUrl);
        if (opened.recording !== null) {
          const text = await opened.recording.read(await episodes.chapters(page, signal), context);
          return { final, read: ofRecording(text, 'local') };
        }
        const { charset } = contentTypeOf(answer.headers['content-type']);
        const { refresh } = answer.headers;
        const content = { bytes: answer.body, charset, address: answer.finalUrl, refresh };
        const read = await readerOf(readers, typeOf(answer))(content, signal);
        if (!('redirect' in read)) return { final, read };
        answer = await answer.follow(read.redirect);
      }
    } finally {
      await opened.recording?.close();
    }
  };

  /** For pages whose text comes from another source than their own address; else null. */
  const readElsewhere = async (page: Page, job: Job, { signal, extendTime }: JobContext): Promise<ReadPage | null> => {
    const isLast = job.attempts >= job.max_attempts;
    const video = await readVideo(page, { signal, extendTime, isLast, recordings, admit: finalOf });
    if (video !== null) return { final: finalOf(video.finalUrl), read: video.page };
    const episode = await episodes.published(page, { signal, isGivenUp: (error) => endsTries(error, job) });
    return episode && { final: finalOf(episode.finalUrl), read: ofRecording(episode.text, 'published') };
  };

  const fetched = async (page: Page, job: Job, context: JobContext): Promise<FetchedPage> => {
    const { final, read } = (await readElsewhere(page, job, context)) ?? (await readFromWeb(page, context));
    if (read.text === '') throw new FetchError('no_text', 'no readable text', { said: read });
    return fetchedPage(page.no, final, read);
  };
  const fill = async (page: Page, job: Job, context: JobContext): Promise<void> =>
    settle(await commit(storeFetched(context.attempt, await fetched(page, job, context))));

  /** A page without text is found by the metadata of the response, unless it is a wall. */
  const keepSaid = async (no: number, said: PartialFacts, { attempt, signal }: JobContext): Promise<void> => {
    const title = said.title === null || isWallTitle(said.title) ? null : said.title.toWellFormed();
    if (!(await commit(storeSaid(attempt, no, { ...said, title })))) return;
    const page = reader.pages.get(no);
    if (page !== undefined) await index({ page, attempt: null, signal, readText: () => '' });
  };

  /** Returns whether the page now has the feed's content as its text. */
  const fillFromFeed = async (page: Page, html: string, { attempt }: JobContext): Promise<boolean> => {
    const read = await extract(html, page.canonical_url, true).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'invalid') return null;
      throw error;
    });
    if (read === null || read.text.trim() === '') return false;
    return (await commit(storeFetched(attempt, fetchedPage(page.no, page, read)))) === 'stored';
  };

  /** The stored text stays until the new one is indexed. */
  const refresh = async (page: Page, job: Job, context: JobContext): Promise<Completion> => {
    if (page.refresh_job !== job.no) return undefined; // a later job refreshes it
    const { attempt, signal } = context;
    const text = await fetched(page, job, context);
    const known = { ...page, ...withFetchedFacts(page, text) };
    // An earlier run may have stored this text without indexing it.
    if (page.indexed_at === null || text.content_hash !== page.content_hash || known.title !== page.title) {
      const replacement = { ...text, readEntities };
      await index({ page: known, attempt, signal, replacement, readText: () => text.body });
    }
    return (transaction) => {
      const read = transaction.pages.get(page.no);
      if (read !== undefined)
        putFacts(transaction, { ...read, ...withFetchedFacts(read, text), indexed_at: now() }, read, now());
    };
  };

  return async (job, context) => {
    const page = job.page_no === null ? undefined : reader.pages.get(job.page_no);
    if (page === undefined) throw new JobError('the page is gone', { permanent: true });
    if (page.index_job !== job.no) return refresh(page, job, context);
    const html = reader.pages.feedContent(page.no);
    if (!reader.pages.hasBody(page.no)) {
      await fill(page, job, context).catch(async (error: unknown) => {
        if (error instanceof FetchError && error.said !== undefined) await keepSaid(page.no, error.said, context);
        const isFilled = html !== undefined && isForGood(error, job) && (await fillFromFeed(page, html, context));
        if (!isFilled) throw error;
      });
    }
    const completion = await indexPage(job, context);
    return html === undefined ? completion : dropping(page.no, completion);
  };
}

/** Refuses unreadable content before it is loaded. */
function admit(readers: ContentReaders, head: AnswerHead): undefined {
  const { type } = contentTypeOf(head.headers['content-type']);
  if (isSuccess(head) && type !== '') readerOf(readers, type);
}

function isSuccess({ status }: AnswerHead): boolean {
  return status >= 200 && status < 300;
}

/** The title comes from the podcast. */
function ofRecording({ text, sections }: TranscriptText, transcript: 'published' | 'local'): ReadPage['read'] {
  return { ...noFacts, title: null, text, sections, transcript };
}

function readerOf(readers: ContentReaders, type: string): ContentReader {
  const reader = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (reader !== undefined) return reader;
  const shown = type.slice(0, longestType).replace(/[^\w.+/-]/g, '?');
  throw new FetchError('unsupported_content', `unsupported content type ${shown}`);
}

/** If the header says nothing specific, the content or the file name decides. */
function typeOf({ headers, body, finalUrl }: WebAnswer): string {
  const { type } = contentTypeOf(headers['content-type']);
  const sniffed = sniffedType(body);
  if (type === '') return sniffed;
  if (type.startsWith('text/') && sniffed === 'application/pdf') return sniffed;
  if (unnamedTypes.includes(type) && sniffed === 'text/html') return sniffed;
  return type === 'text/plain' && /\.(?:md|markdown)$/i.test(new URL(finalUrl).pathname) ? 'text/markdown' : type;
}

/** Classifies an error status: a captcha, or its number. A captcha with 429 or 503 may disappear. */
async function refusalOf(answer: WebAnswer, readers: ContentReaders, signal: AbortSignal): Promise<FetchError | null> {
  const { status, headers, body } = answer;
  const refusal = status === 304 ? new FetchError('http_status', 'HTTP 304', { status }) : statusError(answer);
  if (refusal === null) return null;
  const { type, charset } = contentTypeOf(headers['content-type']);
  const isChallenge =
    headers['cf-mitigated'] === 'challenge' ||
    (type === 'text/html' &&
      body.length > 0 &&
      (await isCaptcha(readerOf(readers, type)({ bytes: body, charset }, signal))));
  if (!isChallenge) return refusal;
  return new FetchError('challenge', 'challenge page', {
    status,
    permanent: status !== 429 && status !== 503,
    retryAfterMs: refusal.retryAfterMs,
  });
}

/** Other failures to read an error's body are ignored. */
async function isCaptcha(reading: Promise<unknown>): Promise<boolean> {
  return reading.then(
    () => false,
    (error: unknown) => {
      if (error instanceof JobError) return error instanceof FetchError && error.code === 'challenge';
      throw error;
    },
  );
}

function settle(stored: StoredFetch): void {
  if (stored === 'blacklisted') throw blacklisted();
  if (stored === 'refused') throw takenOver();
}

function blacklisted(): FetchError {
  return new FetchError('blacklisted', 'redirected to a blacklisted page');
}

function isForGood(error: unknown, job: Job): boolean {
  return error instanceof FetchError && error.code !== 'blacklisted' && endsTries(error, job);
}

/** The page's own text replaces the feed's. */
function dropping(pageNo: number, completion: Completion): Completion {
  return (transaction) => {
    completion?.(transaction);
    transaction.pages.removeFeedContent(pageNo);
  };
}

/** Extraction may split a surrogate pair. A lone half becomes U+FFFD. */
function fetchedPage(page_no: number, final: FetchedPage['final'], read: ExtractedPage & PageFacts): FetchedPage {
  const body = read.text.toWellFormed();
  const title = read.title?.toWellFormed() ?? null;
  return { page_no, final, title, body, content_hash: hash('sha256', body), sections: read.sections, facts: read };
}
