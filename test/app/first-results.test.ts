/** What a person types into the search box, over a fixed library, and the page that must come first: words written otherwise, names of things, addresses, phrases, operators. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchRequest } from '../../src/domain/search.ts';
import { realEncoder } from '../process/service.ts';
import { WholeSystem } from './whole-system.ts';

/** Name: address, title, text. */
const pages: Record<string, [url: string, title: string, text: string]> = {
  wifi: [
    'home.example/walls',
    'Thick walls',
    'Wi-Fi hardly passes walls of stone, so put the router into the corridor.',
  ],
  email: [
    'letters.example/1',
    'Letters',
    'An e-mail with one question gets an answer; with three, one of them gets it.',
  ],
  iso: ['standards.example/dates', 'How we write dates', 'Dates are written as ISO8601 has them, the year first.'],
  gpt: ['exams.example/bar', 'The bar exam', 'GPT-4 passed the exam in the spring, and the lawyers were not amused.'],
  javascript: [
    'web.example/closures',
    'Closures',
    'JavaScript keeps the variables of a function alive as long as a closure needs them.',
  ],
  java: [
    'jvm.example/gc',
    'Garbage collection',
    'Java moves objects between generations; a flag sets the size of each.',
  ],
  autumn: [
    'seasons.example/autumn',
    'In autumn',
    'In autumn mice come in from the fields, and geese fly over. Wolves keep away from knives.',
  ],
  children: [
    'school.example/walk',
    'The way to school',
    'The children went to school on foot and were better at sums than those who took the bus.',
  ],
  dotnet: [
    'code.example/services',
    'Small services',
    'A service in .NET starts in a second; most of ours are written in C# today.',
  ],
  cpp: [
    'code.example/templates',
    'Templates',
    'C++ instantiates a template for each type, which takes the compiler its time.',
  ],
  c: ['code.example/pointers', 'Pointers', 'The language C has arrays that decay to pointers at the first occasion.'],
  node: [
    'code.example/streams',
    'Streams and pressure',
    'In node.js a stream says when its buffer is full, and the writer waits.',
  ],
  hooks: [
    'ui.example/effects',
    'Effects',
    'Call useEffect after the paint; parseJsonBody must not run in it. The limit is max_open_files.',
  ],
  compose: [
    'ops.example/files',
    'Files of a deployment',
    'The file docker-compose.yml names the images, and .env their secrets.',
  ],
  v123: ['app.example/changes-a', 'What is new in spring', 'Release 1.2.3 mends the clock and the calendar.'],
  v123long: ['app.example/changes-b', 'What is new in autumn', 'Release 1.23 brings a dark theme and a calendar.'],
  mount: ['linux.example/fstab', 'Mounting at boot', 'Put the line into fstab and run mount --all once.'],
  boats: ['quay.example/', 'Boats', 'Boats are kept at the quay all the winter, all of them under covers.'],
  dunning: [
    'kb.acme.example/billing/dunning-levels-2024',
    'Frequently asked questions',
    'When is a reminder sent? After ten days.',
  ],
  holidays: [
    'kb.acme.example/hr/holidays',
    'Holidays',
    'Everybody has thirty days, and the office is closed at the end of the year.',
  ],
  thewho: [
    'music.example/the-who',
    'My generation',
    'The Who played at Leeds, and the guitar did not survive the evening.',
  ],
  mayor: [
    'city.example/mayor',
    'The mayor',
    'The man who leads the city, and the woman who led it before him, are the two who decide.',
  ],
  townhall: [
    'city.example/renovation',
    'Renovation',
    'The town hall gets a new roof, and its clock will strike again.',
  ],
  halls: [
    'city.example/dance',
    'Where we dance',
    'The hall is at the edge of the town. No other hall in town has such a floor, and the town pays.',
  ],
  hamlet: ['plays.example/hamlet', 'A soliloquy', 'To be, or not to be, that is the question the prince asks himself.'],
  being: [
    'plays.example/notes',
    'Notes',
    'It is not that he had to be there or that there were to be others; it was to be so.',
  ],
  bread: [
    'kitchen.example/bread',
    'Sourdough bread',
    'Flour, water and salt, and a night of patience; then a very hot oven.',
  ],
  breadnotes: [
    'kitchen.example/notes',
    'Notes on baking',
    'My sourdough bread was flat. Bread needs an oven that is hot; sourdough bread needs time.',
  ],
  jane: [
    'people.example/team',
    'The team',
    'Ask Jane at jane.doe@acme.example about the keys, and Tom about the rest.',
  ],
  rocket: ['space.example/launch', 'Lift-off', 'The 🚀launch was moved to Friday because of the wind.'],
  cafe: [
    'paris.example/cafe',
    'Un café',
    "Le café de l’été ouvre ses portes ; l’après-midi on y lit « Les Misérables » à l'ombre.",
  ],
  strasse: [
    'berlin.example/strasse',
    'Die lange Straße',
    'In der Straße wohnt Frau Müller; sie sagte: „Das Café schließt um acht.“',
  ],
  tower: [
    'meer.example/turm',
    'Leuchttürme',
    'Der Leuchtturmwärter zündet jeden Abend die Lampe an, damit die Schiffe den Weg finden.',
  ],
  cabbage: [
    'kueche.example/kohl',
    'Im Winter',
    'Bei uns gibt es Grünkohl mit Kartoffeln, wie ihn die Großmutter kochte.',
  ],
  cars: [
    'werkstatt.example/auto',
    'Werkstatt',
    'Der Kraft\u00adfahrzeug\u00admechaniker reparierte den Schaden am Kot\u00adflügel.',
  ],
  lodz: ['polska.example/lodz', 'Łódź', 'Łódź była miastem fabryk, a dziś jest miastem filmu.'],
  trabzon: [
    'karadeniz.example/yol',
    'Karadeniz',
    "Bir gece Ankara'da kaldık, sonra Trabzon'un yaylalarına çıktık ve Iğdır yolunda İSTANBUL'dan gelen yolcularla konuştuk.",
  ],
  pho: ['hanoi.example/pho', 'Món ăn', 'Cách nấu phở bò Hà Nội tại nhà: xương bò ninh lâu với gừng nướng, quế và hồi.'],
  nandu: ['pampa.example/nandu', 'El ñandú', 'El ñandú corre por la pampa y no vuela; mañana volveremos a verlo.'],
  metro: ['moskva.example/metro', 'Метро', 'Московское метро открыли в тридцать пятом году; станции похожи на дворцы.'],
  tree: ['moskva.example/elka', 'Ёлка', 'Под ёлкой лежали подарки, а на улице шёл снег.'],
  five: ['kyiv.example/pyat', 'П’ять хвилин', 'За п’ять хвилин до поїзда ми купили об’єднаний квиток.'],
  athens: ['athina.example/', 'Η Αθήνα', 'Η Αθήνα έχει πολλούς λόφους· ο ψηλότερος είναι ο Λυκαβηττός.'],
  beijing: ['beijing.example/autumn', '北京的秋天', '北京的秋天天气很好，人们去香山看红叶，也可以使用WiFi连接网络。'],
  shanghai: ['shanghai.example/', '上海的春天', '上海的春天常常下雨，人们坐地铁去公园看樱花。'],
  sauna: ['onsen.example/', 'サウナ', '入浴料は五百円で、サウナは別料金です。コーヒー牛乳も売っています。'],
  tokyo: ['tokyo.example/', '東京の地下鉄', '東京の地下鉄はとても便利で、朝はとても混んでいます。'],
  kimchi: ['seoul.example/jjigae', '김치찌개', '잘 익은 신김치와 돼지고기를 넣고 푹 끓이면 맛있는 찌개가 됩니다.'],
  bangkok: ['bangkok.example/', 'ตลาดน้ำ', 'ตลาดน้ำใกล้กรุงเทพมหานครเปิดทุกเช้า มีผลไม้และก๋วยเตี๋ยวเรือ'],
  cairo: ['cairo.example/', 'القاهرة', 'القاهرة مدينة كبيرة على نهر النيل، وفيها متحف مشهور جدًّا.'],
  jerusalem: ['hebrew.example/', 'ספרייה', 'הספרייה הלאומית בירושלים פתוחה בכל יום חוץ משבת.'],
  delhi: ['hindi.example/', 'दिल्ली', 'दिल्ली में सर्दियों की सुबह बहुत ठंडी होती है और कोहरा रहता है।'],
  terrarium: [
    'pets.example/terrarium',
    'A terrarium',
    'A terrarium for a gecko needs warmth on one side and shade on the other.',
  ],
  bonsai: ['garden.example/bonsai', 'Small trees', 'A bonsai wants water every day in summer and a cold winter.'],
  postgres: ['db.example/vacuum', 'Vacuum', 'Postgres keeps old row versions until vacuum removes them.'],
  minecraft: [
    'games.example/blocks',
    'Blocks',
    'In Minecraft my daughter built the town of our holidays, with a harbour.',
  ],
  lighthouse: [
    'england.example/brighton',
    'The sea',
    'Mrs Pennyfeather went to Brighton and wrote about the pier and the people at noon.',
  ],
};

/** Query, first page, and fields of the request. `operators` as the console sets them. */
type Row = [query: string, first: string | null, fields?: Partial<SearchRequest>];
const typed = { prefix: true };
const asked = { operators: true };
const rows: Record<string, Row[]> = {
  'joined, hyphenated and split words': [
    ['wifi walls', 'wifi'],
    ['Wi-Fi', 'wifi'],
    ['wi fi', 'wifi'],
    ['WIFI router', 'wifi'],
    ['email', 'email'],
    ['e-mail', 'email'],
    ['e mail', 'email'],
    ['ISO 8601', 'iso'],
    ['ISO8601', 'iso'],
    ['iso-8601', 'iso'],
    ['gpt4', 'gpt'],
    ['GPT-4', 'gpt'],
    ['gpt 4 exam', 'gpt'],
    ['ＧＰＴ－４', 'gpt'],
    ['java script closures', 'javascript'],
    ['javascript', 'javascript'],
    ['Java', 'java'],
    ['sour dough', 'bread'],
  ],
  'irregular forms': [
    ['mouse', 'autumn'],
    ['goose', 'autumn'],
    ['wolf', 'autumn'],
    ['knife', 'autumn'],
    ['child go to school', 'children'],
    ['good at sums', 'children'],
    ['the child goes', 'children'],
  ],
  'code, files and versions': [
    ['.NET', 'dotnet'],
    ['C#', 'dotnet'],
    ['c++', 'cpp'],
    ['C++ templates', 'cpp'],
    ['node.js', 'node'],
    ['nodejs stream', 'node'],
    ['useEffect', 'hooks'],
    ['use effect', 'hooks'],
    ['parse json', 'hooks'],
    ['max_open_files', 'hooks'],
    ['open files limit', 'hooks'],
    ['docker-compose.yml', 'compose'],
    ['docker compose', 'compose'],
    ['.env', 'compose'],
    ['1.2.3', 'v123'],
    ['1.2', 'v123'],
    ['1.23', 'v123long'],
    ['release 1.2.3', 'v123'],
    ['v1.2.3', 'v123'],
  ],
  addresses: [
    ['dunning levels', 'dunning'],
    ['billing', 'dunning'],
    ['kb.acme.example/billing', 'dunning'],
    ['https://kb.acme.example/billing/dun', 'dunning'],
    ['https://kb.acme.example/hr/holidays', 'holidays'],
    ['kb.acme.example/hr/holidays/', 'holidays'],
    ['http://www.quay.example', 'boats'],
    ['jane.doe@acme.example', 'jane'],
    ['jane.doe', 'jane'],
    ['polska.example', 'lodz'],
  ],
  'neighbours, titles and phrases': [
    ['the who', 'thewho'],
    ['The Who', 'thewho'],
    ['town hall', 'townhall'],
    ['to be or not to be', 'hamlet'],
    ['sourdough bread', 'bread'],
    ['Sourdough Bread', 'bread'],
    ['in autumn', 'autumn'],
    ['thick walls', 'wifi'],
    ['my generation', 'thewho'],
    ['"strike again"', 'townhall'],
    ['“a night of patience”', 'bread'],
    ['„Das Café schließt“', 'strasse'],
    ['«Les Misérables»', 'cafe'],
    ['"mount --all"', 'mount'],
    ['mount --all', 'mount', { operators: true }],
    ['fstab --all', 'mount', { operators: true }],
    ['московское метро', 'metro'],
    ['"станции похожи на дворцы"', 'metro'],
    ['北京的秋天', 'beijing'],
    ['"去香山看红叶"', 'beijing'],
    ['東京の地下鉄', 'tokyo'],
    ['"朝はとても混んで"', 'tokyo'],
  ],
  'accents, apostrophes, case': [
    ['cafe', 'cafe'],
    ["l'été", 'cafe'],
    ['l’été', 'cafe'],
    ["l'apres-midi", 'cafe'],
    ['les miserables', 'cafe'],
    ['Strasse', 'strasse'],
    ['straße müller', 'strasse'],
    ['Muller', 'strasse'],
    ['lodz', 'lodz'],
    ['ŁÓDŹ', 'lodz'],
    ['grunkohl', 'cabbage'],
    ['Grünkohl'.normalize('NFD'), 'cabbage'],
    ['nandu', 'nandu'],
    ['manana', 'nandu'],
    ['istanbul', 'trabzon'],
    ['IĞDIR', 'trabzon'],
    ['Trabzon', 'trabzon'],
    ['pho bo ha noi', 'pho'],
    ['phở bò', 'pho'],
    ['елка', 'tree'],
    ['ЁЛКОЙ', 'tree'],
    ["п'ять", 'five'],
    ['п’ять хвилин', 'five'],
    ['αθηνα', 'athens'],
    ['ΑΘΗΝΑ', 'athens'],
    ['λυκαβηττος', 'athens'],
  ],
  'scripts without spaces, and others': [
    ['秋天', 'beijing'],
    ['红叶', 'beijing'],
    ['wifi连接', 'beijing'],
    ['樱花', 'shanghai'],
    ['サウナ', 'sauna'],
    ['コーヒー', 'sauna'],
    ['ｺｰﾋｰ', 'sauna'],
    ['地下鉄', 'tokyo'],
    ['김치찌개', 'kimchi'],
    ['김치찌개'.normalize('NFD'), 'kimchi'],
    ['돼지고기', 'kimchi'],
    ['ก๋วยเตี๋ยว', 'bangkok'],
    ['กรุงเทพ', 'bangkok'],
    ['القاهره', 'cairo'],
    ['متحف', 'cairo'],
    ['ירושלים', 'jerusalem'],
    ['ספרייה', 'jerusalem'],
    ['दिल्ली', 'delhi'],
    ['launch', 'rocket'],
  ],
  'unfinished and misspelt words': [
    ['Grünk', 'cabbage', typed],
    ['leuchttü', 'tower', typed],
    ['minecr', 'minecraft', typed],
    ['terr', 'terrarium', typed],
    ['postgr', 'postgres', typed],
    ['моско', 'metro', typed],
    ['Αθή', 'athens', typed],
    ['北京的', 'beijing', typed],
    ['terrarium', 'terrarium'],
    ['bonsai', 'bonsai'],
    ['postgres', 'postgres'],
    ['terarium', 'terrarium'],
    ['minecarft', 'minecraft'],
    ['Leuchturmwärter', 'tower'],
    ['Pennyfether', 'lighthouse'],
    ['Kraftfahrzeugmechaniker', 'cars'],
    ['"Schaden am Kotflügel"', 'cars'],
  ],
  operators: [
    ['bread -flat', 'bread', asked],
    ['site:music.example', 'thewho', asked],
    ['site:kb.acme.example thirty', 'holidays', asked],
    ['title:renovation', 'townhall', asked],
    ['in:title boats', 'boats', asked],
    ['sourd* patience', 'bread', asked],
    ['lang:ru открыли', 'metro', asked],
    ['url:kb.acme.example/hr', 'holidays', asked],
    ['"zündet jeden Abend"', 'tower', asked],
    ['-site:kitchen.example bread OR roof', 'townhall', asked],
    ['"去香山看红叶" -地铁', 'beijing', asked],
    ['type:html guitar', 'thewho', asked],
  ],
  'other languages and other words': [
    ['the lighthouse keeper lights the lamp', 'tower'],
    ['Moscow metro stations', 'metro'],
    ['foggy winter mornings in Delhi', 'delhi'],
    ['a reptile enclosure', 'terrarium'],
    ['wann öffnet die Nationalbibliothek', 'jerusalem'],
  ],
};

test('what a person types finds the page that it means first', async (t) => {
  const system = await WholeSystem.start(t, realEncoder);
  const page_ids = await system.submit(
    Object.values(pages).map(([address, title, body_extracted]) => ({
      url: `https://${address}`,
      title,
      body_extracted,
    })),
  );
  await system.settled(page_ids);
  await system.filled();
  const names = new Map(Object.keys(pages).map((name, i) => [page_ids[i], name]));
  for (const [kind, each] of Object.entries(rows)) {
    await t.test(kind, async () => {
      const wrong: string[] = [];
      for (const [query, expected, fields] of each) {
        const { results } = await system.search(query, fields);
        const found = results.length === 0 ? null : names.get(results[0].page_id);
        if (found !== expected) wrong.push(`${query}: ${found}, not ${expected}`);
      }
      assert.deepEqual(wrong, []);
    });
  }
});
