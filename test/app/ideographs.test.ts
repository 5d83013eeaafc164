import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchRequest } from '../../src/domain/search.ts';
import { realEncoder } from '../process/service.ts';
import { WholeSystem } from './whole-system.ts';

const pages = {
  cat: { title: '窓辺の日記', text: '私の家には猫が二匹います。白い猫は窓辺で眠り、黒い猫は庭で遊びます。' },
  walk: {
    title: '散歩',
    text: '朝の公園を歩いていると、ベンチの下に小さな猫がいて、それから駅まで歩いて電車に乗りました。',
  },
  ramen: { title: '昼ごはん', text: '東京の駅前で食べた麺は細く、スープは濃い味でした。' },
  library: { title: '图书馆', text: '我昨天在图书馆借了三本书，其中一本书讲的是中国的历史。' },
  cafe: { title: 'A cafe in Kyoto', text: 'The cafe has a cat, a 猫カフェ as people say, and good coffee.' },
  korean: { title: '물', text: '한국어 수업에서 물 한 잔을 마셨다.' },
  thai: { title: 'แมว', text: 'แมวนอนอยู่บนหลังคา' },
};

test('words of one ideograph are found in running text, by how often a page has them', async (t) => {
  const system = await WholeSystem.start(t, realEncoder);
  const ids = await system.read(pages);
  const pathOf = new Map(Object.entries(ids).map(([path, id]) => [id, path]));
  const search = async (query: string, rerank = true) => {
    const { results } = await system.ask('search.query', searchRequest.parse({ query, rerank, min_relevance: 0.2 }));
    return results.map(({ page_id, exact_match }) => ({ path: pathOf.get(page_id), exact_match }));
  };
  const paths = async (query: string, rerank?: boolean) => (await search(query, rerank)).map(({ path }) => path);

  for (const rerank of [true, false]) {
    assert.deepEqual((await paths('猫', rerank))[0], 'cat');
    assert.deepEqual((await paths('猫', rerank)).sort(), ['cafe', 'cat', 'walk']);
    assert.deepEqual(await paths('麺', rerank), ['ramen']);
    assert.deepEqual(await paths('书', rerank), ['library']);
    assert.deepEqual(await paths('水', rerank), []);
  }
  assert.deepEqual((await paths('猫が'))[0], 'cat');
  assert.deepEqual(await paths('図書館'), [], 'other characters than 图书馆');
  assert.deepEqual((await paths('图书馆'))[0], 'library');
  assert.deepEqual((await paths('cafe 猫'))[0], 'cafe');
  assert.deepEqual((await paths('물'))[0], 'korean');
  assert.deepEqual((await paths('แมว'))[0], 'thai');
  assert.deepEqual(
    (await search('"猫"')).sort((a, b) => String(a.path).localeCompare(String(b.path))),
    ['cafe', 'cat', 'walk'].map((path) => ({ path, exact_match: true })),
  );
});
