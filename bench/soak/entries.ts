/** What a soak run does, in this order. Each entry is a set of test files, or a program that leaves with a code other than 0 on failure. */

export interface SoakEntry {
  name: string;
  /** What it shows, for `--list`. */
  shows: string;
  /** Test files, below the root of the project. */
  files?: readonly string[];
  /** A TypeScript program with its arguments; its report is the JSON that it prints. `SEED` stands for the seed. */
  program?: readonly string[];
  env?: Record<string, string>;
  limitMinutes: number;
}

export const soakEntries: readonly SoakEntry[] = [
  {
    name: 'kills-during-ingest',
    shows: '200 kills at random moments while 8 clients push 4,000 pages: nothing acknowledged is lost or doubled',
    files: ['test/process/crash.test.ts'],
    env: { READBACK_TEST_KILLS: '200' },
    limitMinutes: 20,
  },
  {
    name: 'cluster-faults',
    shows: '200 faults of a cluster under load: nothing acknowledged is lost or doubled, nothing deleted is back',
    files: ['test/cluster/faults.test.ts'],
    env: { READBACK_TEST_FAULTS: '200' },
    limitMinutes: 60,
  },
  {
    name: 'kill-points',
    shows: 'killed at named steps of every kind of write, three times each: all of it is there or nothing',
    files: ['bench/soak/kill-points.soak.ts'],
    env: { READBACK_SOAK_OPERATIONS: '' },
    limitMinutes: 45,
  },
  {
    name: 'kills-of-long-work',
    shows: 'merging, clustering, forgetting, polling and backfills go on after kills',
    files: [
      'test/process/entity-crash.test.ts',
      'test/process/clusters-crash.test.ts',
      'test/process/forget-crash.test.ts',
      'test/process/readdress-crash.test.ts',
      'test/process/watches.test.ts',
      'test/process/recovery.test.ts',
      'test/process/backfill.test.ts',
    ],
    env: { READBACK_BACKFILL_ROUNDS: '3', READBACK_TEST_ALL_POINTS: '1' },
    limitMinutes: 20,
  },
  {
    name: 'backlog',
    shows:
      'a thousand pages arrive faster than they are indexed: all are acknowledged, searches go on, and memory stays',
    files: ['bench/soak/backlog.soak.ts'],
    limitMinutes: 10,
  },
  {
    name: 'ledger',
    shows: '1,000 random histories of jobs: the ledger does what a plain model of it does',
    files: ['test/commands/ledger.test.ts'],
    env: { READBACK_TEST_HISTORIES: '1000' },
    limitMinutes: 20,
  },
  {
    name: 'damage',
    shows: 'index files with 50 flipped bits each, every step of a save, 20 smashed pages of the store, restoring',
    files: [
      'test/reliability/kill-while-saving.test.ts',
      'test/reliability/index-files.test.ts',
      'test/reliability/damaged-store.test.ts',
      'test/cli/damaged-store.test.ts',
      'test/engine/vectors/vector-space.test.ts',
      'test/engine/vectors/space-recovery.test.ts',
      'test/engine/words/sparse-recovery.test.ts',
    ],
    env: { READBACK_TEST_ALL_POINTS: '1', READBACK_TEST_BIT_FLIPS: '50', READBACK_TEST_SMASHES: '20' },
    limitMinutes: 30,
  },
  {
    name: 'extension',
    shows:
      'the worker ended at every step, 200 pages queued through two kills of the browser, private windows with a control',
    files: [
      'test/extension-browser/delivery.test.ts',
      'test/extension-browser/capture.test.ts',
      'test/extension-browser/firefox.test.ts',
    ],
    env: { READBACK_TEST_ALL_POINTS: '1' },
    limitMinutes: 20,
  },
  {
    name: 'disks',
    shows: 'full disks, failing disks, the storage quota, backups during ingest',
    files: [
      'test/reliability/full-disk.test.ts',
      'test/reliability/full-disk-saves.test.ts',
      'test/reliability/failing-disk.test.ts',
      'test/reliability/quota.test.ts',
      'test/cli/backup.test.ts',
    ],
    limitMinutes: 10,
  },
  {
    name: 'clocks',
    shows:
      'the clock jumps two hours ahead and back, the process sleeps: leases are lost, jobs rescued, each ends once',
    files: ['bench/soak/clocks.soak.ts'],
    limitMinutes: 8,
  },
  {
    name: 'churn',
    shows: 'pages come and go beside 300 slow readers: the data file stays within twice its live size',
    files: ['bench/soak/churn.soak.ts'],
    limitMinutes: 8,
  },
  {
    name: 'import',
    shows: 'a history of 100,000 addresses and 20,000 bookmarks imported through kills',
    program: ['bench/import-soak.ts', '--seed', 'SEED'],
    limitMinutes: 20,
  },
  {
    name: 'hostile-input',
    shows: 'pages, PDFs, feeds and packed bodies that are made to take memory or time',
    files: [
      'test/process/documents.test.ts',
      'bench/soak/endless-document.soak.ts',
      'test/process/memory.test.ts',
      'test/compute/feed/read-feed.test.ts',
      'test/reliability/regular-expressions.test.ts',
    ],
    env: { READBACK_TEST_ALL_EXPRESSIONS: '1' },
    limitMinutes: 10,
  },
  {
    name: 'hostile',
    shows: 'each class of hostile request, page and feed: health is answered within 300 ms, memory comes back',
    files: ['bench/soak/hostile.soak.ts'],
    limitMinutes: 30,
  },
  {
    name: 'connections',
    shows: '10,000 half-open connections and slow senders: health is answered, memory stays, all are cut',
    files: ['bench/soak/connections.soak.ts'],
    limitMinutes: 5,
  },
  {
    name: 'event-loop',
    shows: 'health is answered at once while a 10 MB page is indexed, the index rebuilt, pages exported and clustered',
    files: ['bench/soak/event-loop.soak.ts'],
    limitMinutes: 10,
  },
  {
    name: 'worst-queries',
    shows: 'the dearest searches that are allowed, at 10,000 chunks',
    program: ['bench/worst-queries.ts'],
    limitMinutes: 15,
  },
  {
    name: 'token-timing',
    shows: 'how long a wrong token takes says nothing of the right one',
    files: ['bench/soak/token-timing.soak.ts'],
    limitMinutes: 5,
  },
  {
    name: 'extraction',
    shows: 'all labelled and saved pages: articles are found without what is around them, none is taken for a wall',
    files: ['test/compute/extraction/extraction-quality.test.ts', 'test/compute/extraction/recognize-wall.test.ts'],
    env: { READBACK_TEST_ALL_PAGES: '1' },
    limitMinutes: 10,
  },
  {
    name: 'activation',
    shows: 'models are switched under two hundred searches a second: none fails, each is answered by one of the two',
    files: ['bench/soak/activation.soak.ts'],
    limitMinutes: 5,
  },
  {
    name: 'upgrade',
    shows:
      'the rehearsal of an upgrade with few pages: words serve at once, vectors are filled, a backup takes it back',
    files: ['bench/soak/upgrade.soak.ts'],
    limitMinutes: 10,
  },
  {
    name: 'restart-storm',
    shows: 'a start with 10,000 queued jobs, 1,000 dead ones and 500 watches due',
    files: ['bench/soak/restart-storm.soak.ts'],
    limitMinutes: 10,
  },
  {
    name: 'providers',
    shows: 'every fault of embedders, rerankers and language models; breakers; bad vectors',
    files: [
      'test/providers/fault-matrix.test.ts',
      'test/app/provider-faults.test.ts',
      'test/app/bad-vectors.test.ts',
      'test/actors/system/breakers.test.ts',
    ],
    limitMinutes: 10,
  },
  {
    name: 'fuzz',
    shows:
      '100,000 random inputs for every route, tool, importer, and parser of feeds, pages and queries: no accident, no stall, memory back a minute later',
    files: ['bench/fuzz/service.soak.ts', 'bench/fuzz/parsers.soak.ts'],
    env: { READBACK_FUZZ_REQUESTS: '100000' },
    limitMinutes: 90,
  },
  {
    name: 'mixed-load',
    shows: 'ten minutes of everything at once: memory, files and threads stay as they are',
    files: ['bench/soak/mixed-load.soak.ts'],
    limitMinutes: 16,
  },
];
