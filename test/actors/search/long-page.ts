/** A store with one indexed page of two megabytes in passages of 2,000 characters; no index. */
import assert from 'node:assert/strict';
import { type Logger, pino } from 'pino';
import { claimJobs } from '../../../src/commands/claim-jobs.ts';
import { commitContent } from '../../../src/commands/commit-content.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { completeJob } from '../../../src/commands/move-job.ts';
import type { Chunk } from '../../../src/domain/page.ts';
import { submission } from '../../commands/submissions.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';

const passageLength = 2000;
const passages = 1000;

export class LongPage implements AsyncDisposable {
  readonly text: string;
  readonly chunks: readonly Chunk[];
  readonly log: Logger = pino({ enabled: false });
  readonly #temporary: TemporaryStore;

  private constructor(temporary: TemporaryStore) {
    this.#temporary = temporary;
    const sentences = Array.from({ length: passages }, (_, at) =>
      `Passage ${at} of these. `.padEnd(passageLength, 'wörter '),
    );
    this.text = sentences.join('');
    this.chunks = sentences.map((_, at) => ({
      char_start: at * passageLength,
      char_end: (at + 1) * passageLength,
      token_count: 300,
      section_title: null,
      section_start_s: null,
    }));
  }

  static async make(): Promise<LongPage> {
    const temporary = await TemporaryStore.open();
    const page = new LongPage(temporary);
    const sections = Array.from({ length: 5000 }, (_, at) => ({ char_start: at * 100, title: `Section ${at}` }));
    const url = 'https://example.com/long';
    const given = submission({ canonical_url: url, title: 'A long page', body: page.text, sections, at: 0 });
    await temporary.commit(ingestPage(given));
    const free = { suspect: 1, index: 1, fetch: 0, poll: 0, purge: 0, background: 0, backfill: 0, entities: 0 };
    const look = claimJobs({ at: 0, incarnation: 'x', leaseMs: 1, free, running: 0 });
    const [job] = (await temporary.commit(look)).jobs;
    const attempt = { job_no: job.no, claim: job.claim };
    const content = { page_no: 1, chunks: [...page.chunks], vectors: new Map() };
    assert.ok((await temporary.commit(commitContent(attempt, content))) !== null);
    await temporary.commit(completeJob(attempt, 0));
    return page;
  }

  get path(): string {
    return this.#temporary.path;
  }

  /** The page as it is ranked for one passage. */
  ordered(ordinal: number) {
    const hits = [{ label: 1 + ordinal, score: 1 }];
    return { page_no: 1, score: 1, hits };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#temporary[Symbol.asyncDispose]();
  }
}
