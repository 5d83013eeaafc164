/**
 * The demo on real data: 32 saved web pages in four languages go into a real service over HTTP, and each query must find its
 * page. Prints the rank of each, the rates, and where a page's own title finds it. Exits 1 below the rate that is asked for.
 *
 *   npm run demo:real
 */
import { haveRealPages, type Ranked, realPagesDir, searchRealPages, shareWithin } from './real-pages.ts';
import { runService } from './running-service.ts';

/** Queries whose page must be among the first three. */
const leastShare = 0.95;
const within = 3;

if (!haveRealPages) {
  console.error(`the real pages are not at ${realPagesDir}`);
  process.exit(1);
}
const service = await runService();
try {
  const report = await searchRealPages(service.call);
  const { pages, queries, titles } = report;
  console.log(`${pages} pages: in after ${seconds(report.ingestMs)}, indexed after ${seconds(report.indexedMs)}\n`);
  console.log('rank  query → page');
  for (const each of queries) console.log(line(each));
  console.log('\nrank  own title → page');
  for (const each of titles) console.log(line(each));
  const share = shareWithin(queries, within);
  console.log(`\nqueries: first ${percent(shareWithin(queries, 1))}, among the first ${within} ${percent(share)}`);
  console.log(`own titles: first ${percent(shareWithin(titles, 1))}`);
  if (share < leastShare) {
    console.error(`fewer than ${percent(leastShare)} of the queries find their page among the first ${within}`);
    process.exitCode = 1;
  }
} finally {
  await service.stop();
}

function line({ query, file, rank, first }: Ranked): string {
  const place = rank === 0 ? '–' : String(rank);
  return `${place.padStart(4)}  ${query} → ${file}${rank === 1 ? '' : `   (first: ${first ?? 'nothing'})`}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
