/** Queries that are written otherwise than the texts they are about: unfinished, misspelt, without accents, in parts of words, decomposed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchRequest } from '../../src/domain/search.ts';
import { WholeSystem } from './whole-system.ts';

const pages: Record<string, { title: string; text: string }> = {
  kimchi: {
    title: '김치찌개',
    text: '잘 익은 신김치와 돼지고기를 넣고 푹 끓이면 맛있는 찌개가 됩니다. 두부는 나중에 넣습니다.',
  },
  seoul: {
    title: '서울'.normalize('NFD'),
    text: '서울은 대한민국의 수도이고 한강이 흐릅니다. 사람이 많이 삽니다.'.normalize('NFD'),
  },
  sauna: { title: 'サウナ', text: '入浴料は五百円で、サウナは別料金です。コーヒー牛乳も売っています。' },
  lighthouse: {
    title: 'Leuchttürme',
    text: 'Der Leuchtturmwärter steigt jeden Abend die Treppe hinauf und zündet die Lampe an, damit die Schiffe den Weg finden.',
  },
  cabbage: {
    title: 'Kochen',
    text: 'Im Winter gibt es bei uns Grünkohl mit Kartoffeln, wie ihn die Großmutter immer gekocht hat.',
  },
  garage: {
    title: 'Werkstatt',
    text: 'Der Kraft\u00adfahrzeug\u00admechaniker reparierte den Schaden am Kot\u00adflügel, und die Rechnung war nicht hoch.',
  },
  trabzon: {
    title: 'Karadeniz',
    text: "Bir gece Ankara'da kaldık, sonra Trabzon'un yaylalarına çıktık ve Iğdır yolunda İSTANBUL'dan gelen yolcularla konuştuk.",
  },
  pho: {
    title: 'Món ăn',
    text: 'Cách nấu phở bò Hà Nội tại nhà: xương bò ninh lâu với gừng nướng, quế và hồi, rồi chan lên bánh phở.',
  },
  england: {
    title: 'Travel',
    text: 'Mrs Pennyfeather went to Brighton and wrote about the sea, the pier and the people who ha ha at noon.',
  },
};
for (let no = 0; no < 12; no++)
  pages[`spanish${no}`] = {
    title: `Carta ${no}`,
    text: `No ha llegado la carta número ${no} que ha escrito mi abuela, y mi hermano ha dicho que ha sido el cartero.`,
  };

test('texts are found by queries that are written otherwise', async (t) => {
  const system = await WholeSystem.start(t);
  const ids = await system.read(pages);
  const names = new Map(Object.entries(ids).map(([name, page_id]) => [page_id, name]));
  const first = async (query: string, fields: Partial<SearchRequest> = {}) => {
    const [page] = (await system.search(query, fields)).results;
    return page === undefined ? null : names.get(page.page_id);
  };
  const having = async (query: string) => {
    const { results } = await system.search(query, { operators: true });
    return results.map(({ page_id }) => names.get(page_id)).sort();
  };

  await t.test('a phrase in any part of Korean words', async () => {
    for (const phrase of ['돼지고기', '신김치와 돼지고기', '김치', '돼지고기를'])
      assert.deepEqual(await having(`"${phrase}"`), ['kimchi'], phrase);
    assert.deepEqual(await having('"고기돼지"'), []);
  });

  await t.test('Korean whose syllables are written apart, on either side', async () => {
    assert.equal(await first('김치찌개'.normalize('NFD')), 'kimchi');
    assert.equal(await first('수도'), 'seoul');
    assert.deepEqual(await having('"대한민국의 수도"'), ['seoul']);
  });

  await t.test('a Japanese phrase that begins with the end of a pair', async () => {
    for (const phrase of ['で、サウナ', '円で、サウナ', 'す。コーヒー'])
      assert.deepEqual(await having(`"${phrase}"`), ['sauna'], phrase);
  });

  await t.test('an unfinished word with an accent', async () => {
    for (const [query, name] of [
      ['Grünk', 'cabbage'],
      ['grunk', 'cabbage'],
      ['leuchttü', 'lighthouse'],
    ])
      assert.equal(await first(query, { prefix: true }), name, query);
  });

  await t.test('a misspelt word of another language than English', async () => {
    assert.equal(await first('Leuchturmwärter'), 'lighthouse');
    assert.equal(await first('Pennyfether'), 'england');
    assert.deepEqual((await system.search('Leuchtturmwärter')).corrected, []);
  });

  await t.test('soft hyphens', async () => {
    for (const phrase of ['Schaden am Kotflügel', 'Kraftfahrzeugmechaniker reparierte'])
      assert.deepEqual(await having(`"${phrase}"`), ['garage'], phrase);
    const [page] = (await system.search('Kraftfahrzeugmechaniker')).results;
    const [{ text, highlights }] = page.chunks;
    assert.deepEqual(
      highlights.map(({ start, end }) => text.slice(start, end)),
      ['Kraft\u00adfahrzeug\u00admechaniker'],
    );
  });

  await t.test('Turkish names with endings, and its dotless letter in phrases', async () => {
    for (const query of ['Trabzon', 'Ankara']) assert.equal(await first(query), 'trabzon', query);
    for (const phrase of ['ığdır', 'IĞDIR yolunda', 'istanbul'])
      assert.deepEqual(await having(`"${phrase}"`), ['trabzon'], phrase);
  });

  await t.test('Vietnamese without accents among texts of other languages', async () => {
    assert.equal(await first('pho bo ha noi'), 'pho');
  });
});
