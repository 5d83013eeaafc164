import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchRequest } from '../../src/domain/search.ts';
import { WholeSystem } from './whole-system.ts';

const english =
  'The museum shows what people in the valley made of wood and iron, and how they lived before the road was built.';
const pages = {
  museum: { title: 'A museum', text: english },
  houses: {
    title: 'Fachwerk',
    text: 'Die Häuser der Altstadt wurden nach dem Brand wieder aufgebaut, und ihre Möglichkeiten sind noch lange nicht ausgeschöpft.',
  },
  songs: {
    title: 'Radio',
    text: 'Las canciones que se escuchaban en la radio durante aquellos años hablaban de la información que nadie daba.',
  },
  rivers: {
    title: 'Реки',
    text: 'В этой книге рассказывается о реках, которые текут через старые города, и о людях, которые живут на берегах.',
  },
  soup: {
    title: 'Món ăn',
    text: 'Phở là món ăn truyền thống của người Việt Nam, thường được ăn vào buổi sáng với rau thơm và chanh.',
  },
  temple: { title: 'วัด', text: 'วัดเก่าแก่แห่งนี้ตั้งอยู่ริมแม่น้ำเจ้าพระยา นักท่องเที่ยวชอบมาถ่ายรูปตอนพระอาทิตย์ตก' },
  both: {
    title: 'Two languages',
    text: `${english}\n\n${'Im Garten hinter dem Haus wuchsen Kirschbäume, deren Früchte die Kinder im Sommer von den Ästen pflückten, während die Großmutter auf der Bank saß. '.repeat(25)}`,
  },
};

test('pages in any language are found by other forms of their words, beside English ones', async (t) => {
  const system = await WholeSystem.start(t);
  const ids = await system.read(pages);
  const nameOf = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  const first = async (query: string, rerank: boolean) => {
    const { results } = await system.ask('search.query', searchRequest.parse({ query, rerank }));
    return nameOf.get(results[0]?.page_id ?? '');
  };
  const assertFound = async () => {
    for (const rerank of [true, false]) {
      assert.equal(await first('haus in der altstadt', rerank), 'houses');
      assert.equal(await first('haeuser möglichkeit', rerank), 'houses');
      assert.equal(await first('una canción de la radio', rerank), 'songs');
      assert.equal(await first('informaciones', rerank), 'songs');
      assert.equal(await first('книга о реке', rerank), 'rivers');
      assert.equal(await first('phở buổi sáng', rerank), 'soup');
      assert.equal(await first('pho buoi sang', rerank), 'soup');
      assert.equal(await first('แม่น้ำเจ้าพระยา', rerank), 'temple');
      assert.equal(await first('Kirschbaum', rerank), 'both');
      assert.equal(await first('wooden museums', rerank), 'museum');
    }
    for (const phrase of [
      'Die Häuser der Altstadt',
      'aquellos años hablaban',
      'реках, которые',
      'ตั้งอยู่ริมแม่น้ำเจ้าพระยา',
    ]) {
      const { results } = await system.ask('search.query', searchRequest.parse({ query: `"${phrase}"` }));
      assert.equal(results[0]?.exact_match, true, phrase);
    }
  };
  await assertFound();
  await system.stop();
  await system.start(); // from the files
  await assertFound();
});
