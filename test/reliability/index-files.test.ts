/**
 * Reliability check C20 on the running service: index files that were deleted, cut short, changed, swapped, emptied or are older
 * than the store, on both sides and among the page vectors. Every start succeeds, says what it set aside, answers searches
 * meanwhile and says that they lack something; in the end searches answer as before and fsck finds the folder sound.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { SearchResponse, SimilarResponse } from '../../src/domain/search.ts';
import { RunningService, until } from '../process/service.ts';
import { newestFirst, type Scope } from '../scope.ts';

/** Files with one bit changed that are tried; `npm run soak -- --only damage` tries fifty. */
const bitFlips = Number(process.env.READBACK_TEST_BIT_FLIPS ?? '0');
/** Every damage on every side: seven starts in place of one, and two swaps in place of one. */
const allDamages = process.env.READBACK_TEST_ALL_POINTS === '1';
const pages = allDamages ? 60 : 24;
const topics = [
  'heron egret stork wading bird river nest fish feather beak',
  'flour yeast dough oven bread rolls crust knead rise bake',
  'knight bishop rook pawn castle board opening endgame clock mate',
  'glacier moraine crevasse ice valley snow avalanche ridge summit rope',
].map((words) => words.split(' '));

function textOf(no: number): string {
  const words = topics[no % topics.length];
  return `Note ${no}. ${Array.from({ length: 60 }, (_, i) => words[(i * (1 + (no % 7)) + no) % words.length]).join(' ')}.`;
}

/** Files below `index/`, by folder. */
const folders = { sparse: 'sparse', dense: 'dense/1', pages: 'pages/1' };
type Side = keyof typeof folders;

class Library {
  readonly service: RunningService;
  readonly ids: string[];
  readonly #saved: string;

  private constructor(service: RunningService, ids: string[]) {
    this.service = service;
    this.ids = ids;
    this.#saved = join(service.home, 'index-saved');
  }

  /** Pages that are indexed, by a service that runs. */
  static async of(scope: Scope): Promise<Library> {
    const service = await RunningService.start(scope);
    const body = {
      pages: Array.from({ length: pages }, (_, no) => ({
        url: `https://notes.example/${no}`,
        title: `Note ${no}`,
        body_extracted: textOf(no),
      })),
    };
    const reply = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', body);
    const ids = reply.body.results.map(({ page_id }) => page_id);
    assert.deepEqual(new Set(await service.settled(ids)), new Set(['indexed']));
    return new Library(service, ids);
  }

  get index(): string {
    return join(this.service.dataDir, 'index');
  }

  keep(): void {
    rmSync(this.#saved, { recursive: true, force: true });
    cpSync(this.index, this.#saved, { recursive: true });
  }

  /** Put the kept files back in the place of what is there. */
  restore(): void {
    rmSync(this.index, { recursive: true, force: true });
    cpSync(this.#saved, this.index, { recursive: true });
  }

  /** Paths of the files of a side that hold its content. */
  files(side: Side): string[] {
    const dir = join(this.index, folders[side]);
    return readdirSync(dir)
      .filter((name) => /\.(segment|rows)$/.test(name))
      .sort()
      .map((name) => join(dir, name));
  }

  /** What the service finds now: of some queries and of the pages similar to one. */
  async answers(): Promise<string[][]> {
    const found: string[][] = [];
    for (const query of ['heron nest by the river', 'knead the dough', 'rook endgame', 'ice on the ridge']) {
      const { status, body } = await this.service.call<SearchResponse>('POST', '/v1/search', { query, k: 10 });
      assert.equal(status, 200);
      found.push(body.results.map(({ page_id }) => page_id));
    }
    const similar = await this.service.call<SimilarResponse>('GET', `/v1/pages/${this.ids[5]}/similar?k=10`);
    assert.equal(similar.status, 200, JSON.stringify(similar.body));
    found.push(similar.body.results.map(({ page_id }) => page_id));
    return found;
  }

  async search(): Promise<SearchResponse> {
    const query = { query: 'heron', k: 5 };
    const { status, body } = await this.service.call<SearchResponse>('POST', '/v1/search', query);
    assert.equal(status, 200);
    return body;
  }

  /** Wait until nothing is being brought back. */
  async rebuilt(): Promise<void> {
    await until(async () => (await this.search()).timing_ms.rebuilding === undefined, 'the index is rebuilt');
  }

  /** Start, and wait until nothing is being brought back and searches answer so. */
  async startsWith(answers: readonly string[][], name: string): Promise<void> {
    await this.service.start();
    await this.search();
    await this.rebuilt();
    const expected = JSON.stringify(answers);
    await until(async () => JSON.stringify(await this.answers()) === expected, `searches answer as before, ${name}`);
  }

  /** Gives how many labels the index has that the store lacks. */
  async stop(name: string): Promise<number> {
    await this.service.stop();
    const report = await checkFolder(this.service.dataDir);
    assert.ok(isClean(report) && report.missing === 0, `${name}: ${JSON.stringify(report)}`);
    return report.obsolete;
  }
}

/** The tests share it in this order, and leave it running. */
let library: Library;
const scope = newestFirst({ after });
before(async () => {
  library = await Library.of(scope);
});

/** What may happen to a side's files while the service is stopped. */
const damages: Record<string, (library: Library, side: Side) => void> = {
  deleted: (library, side) => {
    for (const path of library.files(side)) rmSync(path);
  },
  'deleted with their folder': (library, side) => rmSync(join(library.index, folders[side]), { recursive: true }),
  empty: (library, side) => {
    for (const path of library.files(side)) truncateSync(path, 0);
  },
  truncated: (library, side) => {
    for (const path of library.files(side)) truncateSync(path, Math.floor(readFileSync(path).length / 2));
  },
  'without their manifest': (library, side) => rmSync(join(library.index, folders[side], 'manifest.json')),
  'under a damaged manifest': (library, side) =>
    writeFileSync(join(library.index, folders[side], 'manifest.json'), '{"format":1'),
  'with folders in their places': (library, side) => {
    for (const path of [...library.files(side), join(library.index, folders[side], 'manifest.json')]) {
      rmSync(path);
      mkdirSync(join(path, 'inside'), { recursive: true });
    }
  },
};

const swap = (one: string, other: string) => {
  renameSync(one, `${one}.x`);
  renameSync(other, one);
  renameSync(`${one}.x`, other);
};
const swaps: [string, () => void][] = [
  ['folders in the place of each other', () => swap(join(library.index, 'dense'), join(library.index, 'pages'))],
  ['files in the place of each other', () => swap(library.files('dense')[0], library.files('pages')[0])],
];

test('index files that are damaged in any way, or of another side, are set aside and rebuilt', async () => {
  const before = await library.answers();
  const sides = Object.keys(folders) as Side[];
  // Another damage for each side, so that few starts see every damage; many see each of them on every side.
  const kinds = Object.entries(damages);
  const cases: [string, () => void][] = kinds.slice(0, allDamages ? kinds.length : 1).map((_, first) => [
    `damages from ${kinds[first][0]}`,
    () => {
      for (const [i, side] of sides.entries()) kinds[(first + 2 * i) % kinds.length][1](library, side);
    },
  ]);
  for (let seed = 1; seed <= bitFlips; seed++) {
    const side = sides[seed % sides.length];
    cases.push([
      `one bit of the ${side} side, seed ${seed}`,
      () => {
        const files = library.files(side);
        const path = files[seed % files.length];
        const content = readFileSync(path);
        content[(Math.imul(seed, 0x9e3779b1) >>> 0) % content.length] ^= 1 << (seed % 8);
        writeFileSync(path, content);
      },
    ]);
  }
  cases.push(...(allDamages ? swaps : swaps.slice(1)));
  await library.stop('at first');
  library.keep();
  for (const [at, [name, damage]] of cases.entries()) {
    damage();
    await library.startsWith(before, name);
    if (at === cases.length - 1) continue;
    assert.equal(await library.stop(name), 0, name);
    library.restore();
  }
});

const storeOf = ({ dataDir }: RunningService) => join(dataDir, 'store', 'data.mdb');
const olderOf = ({ home }: RunningService) => join(home, 'older.mdb');

test('index files that are older than the store are brought up', async () => {
  const { service } = library;
  await service.add({ url: 'https://notes.example/later', title: 'Later', body_extracted: `${textOf(0)} zephyr` });
  const before = await library.answers();
  await library.stop('with a page more');
  cpSync(storeOf(service), olderOf(service));
  library.restore();
  await library.startsWith(before, 'of older files');
});

test('a store that was set back behind its index files gives their labels to other texts, and no search takes these for those', async () => {
  const { service } = library;
  const add = (name: string) =>
    service.add({ url: `https://notes.example/${name}`, body_extracted: `${name} ${textOf(0)}` });
  const found = async (query: string) => {
    const { body } = await service.call<SearchResponse>('POST', '/v1/search', { query, k: 1, rerank: false });
    return body.results.map(({ exact_match, canonical_url, chunks: [chunk] }) => ({
      exact_match,
      canonical_url,
      has: chunk.text.startsWith(query),
    }));
  };
  await add('quagga');
  await library.stop('with another page');

  cpSync(olderOf(service), storeOf(service));
  await service.start();
  const id = await add('zorilla');
  await service.kill(); // before its files are saved: those on the disk are of the other history
  await service.start();
  await library.rebuilt();
  assert.deepEqual(await service.settled([id]), ['indexed']); // again, where that was not on the disk yet
  assert.deepEqual(await found('zorilla'), [
    { exact_match: false, canonical_url: 'https://notes.example/zorilla', has: true },
  ]);
  assert.deepEqual(await found('quagga'), []);
  await library.stop('in the end');
});
