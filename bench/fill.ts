/**
 * Vectors made in the background, over HTTP with the encoder that is shipped: tokens a second as a share of those of the bare runtime, which takes
 * turns with the filling, so that both meet the same machine; then what searches take while the rest is filled, and alone;
 * and memory: of an empty idle service, and of the encoder, which is gone when it is idle. Prints JSON.
 *
 *   npm run bench -- fill                                 300 pages of 960 words
 *   npm run bench -- fill --pages 5000 --rounds 20        as many as a year of reading
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MAX_WINDOWS, windowsOf } from '../src/compute/embedding/encoder-windows.ts';
import { openTokenizer } from '../src/compute/embedding/unigram-tokenizer.ts';
import type { ModelListResponse } from '../src/domain/model.ts';
import { Encoder } from '../src/encoder/encoder.ts';
import { encoderDir, readManifest } from '../src/encoder/encoder-files.ts';
import { openOnnxSession } from '../src/encoder/onnx-session.ts';
import { englishWords } from './english-words.ts';
import { allIndexed, latency, pushPages } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const wordsPerPage = 960;
const lookMs = 250;
/** After its start an empty service is left alone for so long, ms. */
const idleMs = 10_000;
/** Between two searches, ms. */
const pauseMs = 20;
const searches = 200;
/** Windows that the bare runtime reads in a round, and passages that the service fills at least. */
const bareWindows = 100;
const filledPassages = 40;

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '300' }, rounds: { type: 'string', default: '5' } },
});
const [count, rounds] = [Number(values.pages), Number(values.rounds)];
const vocabulary = englishWords(60_000);
const words = openWorkload({ seed, wordsPerChunk: wordsPerPage, vocabulary });
const queries = Array.from({ length: searches }, (_, at) => words.query(at).words.join(' '));
const manifest = readManifest(encoderDir);
const tokenizer = openTokenizer(new Uint8Array(readFileSync(join(encoderDir, manifest.tokenizer.name))));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const textOf = (page: number) => `${words.chunkWords(page).join(' ')}.`;
const tokensOf = (text: string) => tokenizer.encode(text).ids.length;

/** Gives tokens a second of the runtime by itself; the prefix and the two marks of a window do not count. */
async function bareRuntime() {
  const session = await openOnnxSession(join(encoderDir, manifest.encoder.name), { native: true });
  const prefix = tokenizer.encode('passage:').ids;
  const windows: number[][] = [];
  for (let page = 0; windows.length < bareWindows; page++)
    windows.push(...windowsOf(tokenizer.encode(textOf(page)).ids, prefix, MAX_WINDOWS.passage));
  const tokens = windows.reduce((sum, window) => sum + window.length - prefix.length - 2, 0);
  await session.run(windows[0]);
  const rate = async () => {
    const began = performance.now();
    for (const window of windows) await session.run(window);
    return (tokens * 1000) / (performance.now() - began);
  };
  return { runtime: session.runtime, rate };
}

/** What the loaded encoder takes, MB, and whether it is gone when nobody asks it. */
async function encoderMemory() {
  const encoder = new Encoder({ dim: manifest.dim, idleMs: 1000, log: { info: () => {}, warn: () => {} } });
  await encoder.encode([textOf(0), textOf(1)], 'passage');
  const { pid } = encoder.state;
  const memory = pid === null ? null : memoryOf(pid);
  await pause(3000);
  const isGone = encoder.state.pid === null;
  await encoder.close();
  return { ...memory, gone_when_idle: isGone };
}

function memoryOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (line: string) => Math.round(Number(new RegExp(`${line}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
  return { anonymous: of('RssAnon'), resident: of('VmRSS') };
}

const encoder_mb = await encoderMemory();
const service = await runService({ SERVICE_ENTITY__ENABLED: 'false' });
try {
  const pendingNow = async () => {
    const { models } = (await service.call('GET', '/v1/models')).body as ModelListResponse;
    const active = models.find(({ is_active }) => is_active);
    return { passages: active?.vectors_pending ?? 0, pages: active?.pages_pending ?? 0 };
  };
  const search = async (at: number) => {
    const began = performance.now();
    await service.call('POST', '/v1/search', { query: `${queries[at % searches]} ${at}`, suggest: 0 });
    return performance.now() - began;
  };
  const timed = async (isOver: (at: number) => boolean) => {
    const times: number[] = [];
    for (let at = 0; !isOver(at); at++) {
      times.push(await search(at));
      await pause(pauseMs);
    }
    return latency(times);
  };
  const pages = Array.from({ length: count }, (_, page) => ({
    url: `https://bench.example/${page}`,
    title: `Page ${page}`,
    body_extracted: textOf(page),
  }));
  await pause(idleMs);
  const emptyMb = service.anonymousMb();
  await service.call('POST', '/v1/models/fill', { paused: true });
  await pushPages(service, pages);
  while (!(await allIndexed(service))) await pause(lookMs);
  await pause(2000);
  const residentBefore = service.residentMb();
  const before = await pendingNow();
  const tokens = pages.reduce((sum, { title, body_extracted }) => sum + tokensOf(`${title} ${body_extracted}`), 0);
  const tokensPerPassage = tokens / before.passages;
  const pauseFill = (paused: boolean) => service.call('POST', '/v1/models/fill', { paused });
  /** Passages left when a batch has just ended. */
  const nextBatch = async (from: number) => {
    for (;;) {
      await pause(lookMs / 5);
      const { passages } = await pendingNow();
      if (passages < from) return { passages, at: performance.now() };
    }
  };
  const bare = await bareRuntime();
  const alternating = [];
  for (let round = 0; round < rounds; round++) {
    const { passages } = await pendingNow();
    // Too few for another round, which would wait for ever.
    if (passages < 3 * filledPassages) break;
    await pauseFill(false);
    const from = await nextBatch(passages);
    let to = from;
    while (from.passages - to.passages < filledPassages) to = await nextBatch(to.passages);
    await pauseFill(true);
    // The batch in progress ends first.
    await nextBatch(to.passages);
    const filling = ((from.passages - to.passages) * tokensPerPassage * 1000) / (to.at - from.at);
    alternating.push({ filling, bare: await bare.rate() });
  }
  await pauseFill(false);
  let isFilled = false;
  const began = performance.now();
  const start = await pendingNow();
  const meanwhile = timed(() => isFilled);
  while ((await pendingNow()).passages > 0) await pause(lookMs);
  const seconds = (performance.now() - began) / 1000;
  isFilled = true;
  const filling = await meanwhile;
  const alone = await timed((at) => at === searches);
  const shares = alternating.map((each) => each.filling / each.bare).sort((a, b) => a - b);
  console.log(
    JSON.stringify(
      {
        ...{ bench: 'fill', seed, pages: count, words_per_page: wordsPerPage, passages: before.passages },
        machine: describeMachine(),
        runtime: bare.runtime,
        share_of_bare: Math.round(100 * shares[Math.floor(shares.length / 2)]) / 100,
        rounds: alternating.map((each) => ({
          filling_tokens_per_s: Math.round(each.filling),
          bare_tokens_per_s: Math.round(each.bare),
        })),
        while_searched: { passages: start.passages, seconds: Math.round(seconds) },
        search_ms: { alone, filling },
        memory_mb: {
          empty_idle_anonymous: emptyMb,
          words_only_resident: residentBefore,
          filled_resident: service.residentMb(),
          encoder: encoder_mb,
        },
      },
      null,
      2,
    ),
  );
} finally {
  await service.stop();
}
