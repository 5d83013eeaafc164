import { type Logger, pino } from 'pino';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import type { Chunk } from '../../../src/domain/page.ts';
import { submission } from '../../commands/submissions.ts';
import { chunkRow } from '../../machines/rows.ts';
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
    this.chunks = sentences.map((_, at) =>
      chunkRow(at * passageLength, (at + 1) * passageLength, { token_count: 300 }),
    );
  }

  static async make(): Promise<LongPage> {
    const temporary = await TemporaryStore.open();
    const page = new LongPage(temporary);
    const sections = Array.from({ length: 5000 }, (_, at) => ({ char_start: at * 100, title: `Section ${at}` }));
    const url = 'https://example.com/long';
    const given = submission({ canonical_url: url, title: 'A long page', body: page.text, sections, at: 0 });
    await temporary.commit(ingestPage(given));
    await temporary.index({ page_no: 1, chunks: [...page.chunks], vectors: new Map() });
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
