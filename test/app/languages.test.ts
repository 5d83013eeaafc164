import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realEncoder } from '../process/service.ts';
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
  school: {
    title: 'Училище',
    text: 'Учениците от селското училище събират книги за новата библиотека, а селяните им носят ябълки и орехи. Всяка събота те четат на глас за по-малките деца, които още не могат да четат сами, и след това всички заедно пият чай.',
  },
  library: {
    title: 'Αθήνα',
    text: 'Οι βιβλιοθήκες της πόλης μένουν ανοιχτές όλο το καλοκαίρι, και οι αναγνώστες διαβάζουν κάτω από τα πεύκα.',
  },
  lake: {
    title: 'Talot',
    text: 'Vanhoissa taloissa järven rannalla asuu kesällä paljon vieraita, jotka uivat joka aamu ennen aamiaista.',
  },
  gulls: {
    title: 'Vapur',
    text: 'Martılar vapurun arkasından uçuyor, yolcular onlara simit atıyor ve akşam olunca şehrin ışıkları yanıyor. Her gün aynı yoldan işe giden insanlar birbirlerini tanıyor, kahvelerini içerken gazetelerini okuyor ve denizi seyrediyorlar.',
  },
  readers: {
    title: 'القراءة',
    text: 'يقرأ الناس في المكتبات الكبيرة كتباً عن تاريخ المدينة القديمة وعن الأسواق التي كانت على ضفة النهر.',
  },
  mill: {
    title: 'Polder',
    text: 'De molens langs het kanaal pompen al eeuwen het water uit de polder, en de molenaars kennen elke wind. Hun kinderen leren al vroeg hoe ze de zeilen moeten zetten, want het weer kan hier binnen een uur veranderen.',
  },
  woods: {
    title: 'Skogarna',
    text: 'Skogarna i norr är fulla av bär om hösten, och barnen som bor där plockar dem innan snön kommer.',
  },
  fishers: {
    title: 'Рибари',
    text: 'Рибари на Дунаву износе мреже пре зоре, а њихова деца гледају како се чамци враћају са рибом.',
  },
  both: {
    title: 'Two languages',
    text: `${english}\n\n${'Im Garten hinter dem Haus wuchsen Kirschbäume, deren Früchte die Kinder im Sommer von den Ästen pflückten, während die Großmutter auf der Bank saß. '.repeat(25)}`,
  },
};

test('pages in any language are found by other forms of their words, beside English ones', async (t) => {
  const system = await WholeSystem.start(t, realEncoder);
  const ids = await system.read(pages);
  const nameOf = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  const first = async (query: string) => {
    const { results } = await system.search(query);
    return nameOf.get(results[0]?.page_id ?? '');
  };
  const queries = [
    ['haus in der altstadt', 'houses'],
    ['haeuser möglichkeit', 'houses'],
    ['una canción de la radio', 'songs'],
    ['informaciones', 'songs'],
    ['книга о реке', 'rivers'],
    ['phở buổi sáng', 'soup'],
    ['pho buoi sang', 'soup'],
    ['แม่น้ำเจ้าพระยา', 'temple'],
    ['Kirschbaum', 'both'],
    ['ученик', 'school'],
    ['βιβλιοθήκη', 'library'],
    ['talot', 'lake'],
    ['martı', 'gulls'],
    ['مكتبة', 'readers'],
    ['molen', 'mill'],
    ['skogar', 'woods'],
    ['рибара', 'fishers'],
    ['wooden museums', 'museum'],
  ];
  for (const [query, name] of queries) assert.equal(await first(query), name, query);
  for (const phrase of ['Die Häuser der Altstadt', 'aquellos años hablaban', 'реках, которые', 'ตั้งอยู่ริมแม่น้ำเจ้าพระยา']) {
    const { results } = await system.search(`"${phrase}"`);
    assert.equal(results[0]?.exact_match, true, phrase);
  }
  await system.stop();
  await system.start();
  for (const [query, name] of queries) assert.equal(await first(query), name, `after a restart: ${query}`);
});
