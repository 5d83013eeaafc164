import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelClustersHandler } from '../../../src/actors/clusters/label-clusters.ts';
import { queueNaming } from '../../../src/commands/cluster-runs.ts';
import { ProviderError } from '../../../src/providers/resilient-call.ts';
import type { TextOfCluster } from '../../../src/threads/cluster-thread.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { contextOf } from '../attempt-context.ts';

/** Has six topics, `topic1` to `topic6`, labelled by a model that refuses those named: which it was asked for, which have its label, and the error. */
async function label(refused: readonly string[], exclude: readonly string[] = []) {
  await using temporary = await TemporaryStore.open();
  const { clusters } = temporary.reader;
  await temporary.commit((transaction) => {
    for (let no = 1; no <= 6; no++) {
      const keywords = [`topic${no}`];
      const place = { size: 1, tombstoned: false, x: 0, y: 0 };
      transaction.clusters.put({ no, keywords, label: keywords[0], labelled: false, stale: false, ...place });
    }
    const point = { page_no: 1, cluster_no: 2, probability: 1, x: 0, y: 0, since: false };
    transaction.clusters.putPoints(1, [point]);
    transaction.clusters.note('current', 1);
  });
  await temporary.commit(queueNaming(0, 1));
  const [{ job, attempt }] = await temporary.claim(1);
  const asked: string[] = [];
  const handler = labelClustersHandler({
    exclude,
    reader: {
      ...temporary.reader,
      pages: { head: () => ({ title: 'A letter', canonical_url: 'https://mail.example.com/1' }) },
    } as never,
    commit: (command) => temporary.commit(command),
    pool: { run: () => assert.fail('no topic is stale') } as never,
    chat: {
      complete: async ([, { content }]) => {
        const topic = /topic\d/.exec(content)?.[0] ?? '';
        asked.push(topic);
        if (refused.includes(topic)) throw new ProviderError('llm', 'refused', `400 for ${topic}`, { status: 400 });
        return `About ${topic}`;
      },
    },
  });
  const error = await handler(job, contextOf(temporary, attempt, 2)).then(
    () => null,
    (thrown: Error) => thrown.message,
  );
  const labelled = clusters.all().flatMap((cluster) => (cluster.labelled ? [cluster.keywords[0]] : []));
  return { asked, labelled, error };
}

test('for a topic that lost pages, its own pages are read and few of all others, under their own topics', async () => {
  await using temporary = await TemporaryStore.open();
  const count = 6000;
  await temporary.commit((transaction) => {
    const page_nos = Array.from({ length: count }, (_, i) => i + 1);
    const place = { probability: 1, x: 0, y: 0, since: false };
    transaction.clusters.putPoints(
      1,
      page_nos.map((page_no) => ({ ...place, page_no, cluster_no: page_no <= 100 ? 1 : 2 + (page_no % 60) })),
    );
    transaction.clusters.note('current', 1);
    const row = { label: null, labelled: false, keywords: [], size: 100, tombstoned: false, x: 0, y: 0 };
    transaction.clusters.put({ ...row, no: 1, stale: true });
  });
  await temporary.commit(queueNaming(0, 1));
  const [{ job, attempt }] = await temporary.claim(1);
  const read: number[] = [];
  const handler = labelClustersHandler({
    exclude: [],
    reader: {
      ...temporary.reader,
      pages: { head: () => ({ language: 'en', title: null }), bodySlice: () => 'text' },
    } as never,
    commit: (command) => temporary.commit(command),
    pool: {
      run: async (task: string, { texts = [] }: { texts?: TextOfCluster[] }) => {
        read.push(...texts.map(({ cluster }) => cluster));
        return task === 'keywords' ? new Map() : undefined;
      },
    } as never,
    chat: null,
  });
  await handler(job, contextOf(temporary, attempt, 2));
  assert.equal(read.filter((cluster) => cluster === 1).length, 100);
  assert.ok(read.length > 1500 && read.length <= 2100, `${read.length}`);
  assert.ok(new Set(read).size > 15, 'of many topics');
});

const topics = ['topic1', 'topic2', 'topic3', 'topic4', 'topic5', 'topic6'];

test('a topic with a page that is excluded from models is not named by one', async () => {
  const { asked, labelled } = await label([], ['mail.example.com']);
  const others = topics.filter((topic) => topic !== 'topic2');
  assert.deepEqual([asked, labelled], [others, others]);
});

test('a model that refuses the first three topics is asked for no other', async () => {
  const error = 'provider llm: 400 for topic1';
  assert.deepEqual(await label(topics), { asked: topics.slice(0, 3), labelled: [], error });
});

test('a model that answered once is asked for all topics, however many it refuses', async () => {
  const afterOne = await label(topics.slice(1));
  assert.deepEqual(afterOne, { asked: topics, labelled: ['topic1'], error: 'provider llm: 400 for topic2' });
  const afterTwo = await label(topics.filter((topic) => topic !== 'topic3'));
  assert.deepEqual(afterTwo, { asked: topics, labelled: ['topic3'], error: 'provider llm: 400 for topic1' });
});
