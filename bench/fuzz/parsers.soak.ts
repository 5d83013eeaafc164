/**
 * Every parser of what comes from elsewhere, given documents that were changed at random: pages, feeds, files to import, queries. Each gives a
 * result or the error that it is documented to give. In a long run none takes longer than its thread would be given.
 *
 * READBACK_FUZZ_REQUESTS sets how many inputs all of bench/fuzz has, READBACK_TEST_SEED where they come from.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { extractHtml } from '../../src/compute/extraction/extract-html.ts';
import { ExtractionLimitError } from '../../src/compute/extraction/parse-page.ts';
import { readFeed, readPodcast } from '../../src/compute/feed/read-feed.ts';
import {
  hostOfQuery,
  quotedPhrases,
  titleOfQuery,
  titleSpellings,
  urlOfQuery,
} from '../../src/compute/ranking/exact-query.ts';
import { readOperators } from '../../src/compute/ranking/query-operators.ts';
import { createTextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { createWinkTokenizer } from '../../src/compute/text/wink-tokenizer.ts';
import { ImportError } from '../../src/importers/item-parts.ts';
import { openSource } from '../../src/importers/open-source.ts';
import { note } from '../../test/process/rare-states.ts';
import { newestFirst, temporaryFolder } from '../../test/scope.ts';
import { documentsLike, feedSamples, importSamples, pageSamples, querySamples, sharedSamples } from './documents.ts';
import { inputs, isLong, runsOf, seed } from './size.ts';

const scope = newestFirst({ after });
const folder = temporaryFolder(scope);
const file = join(folder, 'file');
const analyzer = createTextAnalyzer(createWinkTokenizer);
/** Processor time of one input, ms: a tenth of the least that a thread is given for one. */
const mostMs = 3000;

interface Parser {
  samples: (Buffer | string)[];
  read: (document: Buffer) => unknown;
  /** Errors that it is documented to give. */
  mayThrow?: new (
    ...args: never[]
  ) => Error;
}

const parsers: Record<string, Parser> = {
  pages: {
    samples: [...pageSamples, ...sharedSamples('html'), ...sharedSamples('cases')],
    read: (document) => extractHtml(document.toString(), 'https://a.example/'),
    mayThrow: ExtractionLimitError,
  },
  feeds: {
    samples: [...feedSamples, ...sharedSamples('feeds')],
    read: (bytes) => {
      const feed = { bytes, charset: null, url: 'https://a.example/feed' };
      return [readFeed(feed), readPodcast(feed)];
    },
  },
  imports: {
    samples: [...importSamples, ...sharedSamples('exports')],
    read: async (document) => {
      writeFileSync(file, document);
      const source = await openSource(file, null);
      await source.leftOut();
      for await (const _ of source.items());
    },
    mayThrow: ImportError,
  },
  queries: {
    samples: querySamples,
    read: (document) => {
      const query = document.toString().slice(0, 4000);
      analyzer.trim();
      return [
        ...[readOperators(query), urlOfQuery(query), hostOfQuery(query), quotedPhrases(query)],
        ...[titleSpellings(titleOfQuery(query)), analyzer.terms(query)],
      ];
    },
  },
};

for (const [name, { samples, read, mayThrow }] of Object.entries(parsers)) {
  test(`${name} that were changed at random are read, or refused as documented`, async (t) => {
    let slowest = { ms: 0, bytes: 0, input: '' };
    let count = 0;
    await fc.assert(
      fc.asyncProperty(documentsLike(samples), async (document) => {
        count++;
        const before = process.cpuUsage();
        try {
          await read(document);
        } catch (error) {
          if (mayThrow === undefined || !(error instanceof mayThrow)) throw error;
        }
        const { user, system } = process.cpuUsage(before);
        const ms = (user + system) / 1000;
        if (ms > slowest.ms)
          slowest = { ms: Math.round(ms), bytes: document.length, input: document.toString('latin1') };
        if (isLong && ms > mostMs)
          throw new Error(`${document.length} bytes take ${Math.round(ms)} ms of processor time`);
      }),
      runsOf(inputs[name as keyof typeof inputs]),
    );
    const facts = { inputs: count, slowest_ms: slowest.ms, slowest_bytes: slowest.bytes };
    t.diagnostic(JSON.stringify({ seed, ...facts, slowest: slowest.input.slice(0, 200) }));
    note({ counts: { [`fuzz ${name}`]: JSON.stringify(facts) } });
  });
}
