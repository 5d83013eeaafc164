import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from '../../src/domain/page.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { compiled } from '../app/compiled.ts';
import { library, WholeSystem } from '../app/whole-system.ts';
import { tinyEncoder, until, withEntities } from '../process/service.ts';
import { newestFirst, temporaryFolder } from '../scope.ts';
import { type Tables, tamper } from './tampered-store.ts';

const { runFsck }: typeof import('../../src/composition/run-fsck.ts') = await compiled('composition/run-fsck');

const scope = newestFirst({ after });
let template: string;
before(async () => {
  const system = await WholeSystem.start(scope, withEntities);
  await system.read(library);
  // What comes after a page was indexed is no fault: its title, author and tags. Its text is too short to show its language.
  const [url, body_extracted] = ['https://example.com/late', 'Reiher 1932'];
  const ingested = await system.ask('page.ingest', { url, body_extracted, metadata: { lang: 'nl' } });
  assert.ok('page_id' in ingested);
  const { page_id } = ingested;
  const isIndexed = async () => (await system.ask('page.status', { page_id })).status === 'indexed';
  await until(isIndexed, 'the page is indexed');
  const metadata = { lang: 'de', author: 'Ann Lee', tags: ['birds'] };
  await system.ask('page.ingest', { url, body_extracted, title: 'Der Graureiher', metadata });
  await system.filled();
  await system.stop();
  template = system.dataDir;
});

function copied(t: Parameters<typeof temporaryFolder>[0]) {
  const dataDir = join(temporaryFolder(t), 'data');
  cpSync(template, dataDir, { recursive: true });
  const base = { SERVICE_DATA_DIR: dataDir, SERVICE_AUTH_TOKEN: 'whole-system-token' };
  const settings = readSettings({ ...base, ...tinyEncoder });
  let id = 0;
  const fsck = async (repair: boolean) => {
    const said: string[] = [];
    const say = (line: string) => said.push(line);
    const newId = () => `fsck-${id++}`;
    const sound = await runFsck({ settings, repair, full: false, seed: 7, say, newId });
    // What a start brings in is no fault, nor is a vector that comes behind.
    const rest = said.filter((line) => !/not in the index files yet|wait for vectors/.test(line));
    return { sound, said: rest.map((line) => line.replace('6 vectors', '7 vectors')) };
  };
  return { dataDir, fsck };
}

const compared = '7 pages compared with their chunks and words, 7 vectors with their texts';
const soundly = { sound: true, said: ['7 pages, 7 chunks', compared, 'sound'] };

/** Change a file of the index where it has a checksum, and the checksum with it. */
function falsify(dataDir: string, folder: string, change: (content: Buffer) => void): void {
  const dir = join(dataDir, 'index', folder);
  const names = readdirSync(dir);
  const name = names.find((each) => /\.(segment|rows)$/.test(each)) ?? '';
  const content = readFileSync(join(dir, name));
  const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  const old = sha256(content);
  change(content);
  writeFileSync(join(dir, name), content);
  for (const other of names.filter((each) => each.endsWith('.json'))) {
    const manifest = readFileSync(join(dir, other), 'utf8');
    writeFileSync(join(dir, other), manifest.replaceAll(old, sha256(content)));
  }
}

/** A word of the header of 32 bits. */
const word = (content: Buffer, at: number) => content.readUInt32LE(4 * at);

/** By what was changed, in a store or an index that is otherwise whole: what the check finds, and how it was changed. */
const changes: Record<string, [finding: RegExp, change: (dataDir: string) => unknown]> = {
  'a text': [
    /^store: page 1: its text does not match its content_hash/m,
    inStore(({ bodies }) => bodies.put(1, (bodies.get(1) ?? '').replace(/[aeiou]/, 'X'))),
  ],
  'a chunk, cut short': [
    /^store: page 1: words of its text are in no chunk/m,
    inStore(({ chunks }) => {
      const cut = (chunks.get(1) ?? []).map((chunk) => ({ ...chunk, char_end: chunk.char_end - 20 }));
      return chunks.put(1, cut);
    }),
  ],
  'how often a word is in a document': [
    /^index\/sparse: .*\.segment: page \d has other words than its text/m,
    (dataDir) =>
      falsify(dataDir, 'sparse', (content) => {
        // src/engine/words/segment.ts: labels, lengths, starts and peaks are before the postings; the frequency is the lower half.
        const [docs, terms] = [word(content, 2), word(content, 3)];
        content[64 + 16 + 4 * (2 * docs + terms + 1 + terms)] ^= 1;
      }),
  ],
  'the order of words of a document': [
    /^index\/sparse: .*\.segment: page \d has other words than its text/m,
    (dataDir) =>
      falsify(dataDir, 'sparse', (content) => {
        content[content.length - 1] ^= 1;
      }),
  ],
  'a vector': [
    /^store: page 2: a vector of \S+ does not match its text/m,
    inStore(({ vectors }) => vectors.put([1, 2], Buffer.from(vectors.get([1, 3]) as Buffer))),
  ],
  'a row of a vector file': [
    /^index\/dense\/1: page \d: a vector of \S+ differs from the stored one/m,
    (dataDir) => falsify(dataDir, 'dense/1', (content) => content.fill(1, content.length - 50)),
  ],
  'a row of the page vectors': [
    /^index\/pages\/1: page \d: its page vector of \S+ is not the mean of its vectors/m,
    (dataDir) => falsify(dataDir, 'pages/1', (content) => content.fill(1, content.length - 50)),
  ],
};

function inStore(change: (tables: Tables) => unknown) {
  return (dataDir: string) => tamper(dataDir, change);
}

for (const [name, [finding, change]] of Object.entries(changes)) {
  test(`the check finds a change of ${name}`, async (t) => {
    const { dataDir, fsck } = copied(t);
    await change(dataDir);
    const found = await fsck(false);
    assert.equal(found.sound, false);
    assert.match(found.said.join('\n'), finding);
  });
}

test('what an earlier version made of a page, by the languages that it saw, is not compared and no fault', async (t) => {
  const { dataDir, fsck } = copied(t);
  await tamper(dataDir, ({ pages }) => {
    const { passage_languages, ...page } = pages.get(7) as Page;
    assert.deepEqual(passage_languages, ['nl']);
    return pages.put(7, { ...page, metadata: JSON.stringify({ lang: 'de' }) } as never);
  });
  const left = 'an earlier version indexed 1 of them, so their words were not compared';
  assert.deepEqual(await fsck(false), { sound: true, said: ['7 pages, 7 chunks', compared, left, 'sound'] });
});

test('a repair deletes faulty files of the index and leaves faults of the store to backups and exports', async (t) => {
  const { dataDir, fsck } = copied(t);
  assert.deepEqual(await fsck(false), soundly);

  const folders = ['sparse', 'dense/1', 'pages/1'];
  for (const folder of folders) {
    const dir = join(dataDir, 'index', folder);
    const name = readdirSync(dir).find((each) => /\.(segment|rows)$/.test(each)) ?? assert.fail();
    const content = readFileSync(join(dir, name));
    content[content.length >> 1] ^= 1;
    writeFileSync(join(dir, name), content);
  }
  const found = await fsck(false);
  assert.equal(found.sound, false);
  for (const folder of folders)
    assert.match(found.said.join('\n'), new RegExp(`^index/${folder}: .*another checksum`, 'm'));
  assert.equal((await fsck(true)).sound, true);
  assert.deepEqual(await fsck(false), soundly);
  await tamper(dataDir, ({ byUrl }) => byUrl.remove([...byUrl.getKeys()][0]));
  const repaired = await fsck(true);
  assert.equal(repaired.sound, false);
  assert.match(repaired.said.at(-1) ?? '', /readback restore DIR --replace.*readback export FILE/);
});
