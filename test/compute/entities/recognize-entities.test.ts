import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { loadNameTagger } from '../../../src/actors/entities/load-name-tagger.ts';
import { openWordVectors } from '../../../src/compute/embedding/word-vectors.ts';
import { createEntityRecognizer, type EntityRecognizer } from '../../../src/compute/entities/recognize-entities.ts';
import { createWordKinds } from '../../../src/compute/entities/word-kinds.ts';
import { loadWordVectors } from '../../../src/engine/load-word-vectors.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

describe('the entity recogniser', () => {
  let recognize: EntityRecognizer;
  before(() => {
    recognize = createEntityRecognizer(createWordKinds(openWordVectors(loadWordVectors())), loadNameTagger());
  });
  const found = (text: string) => recognize(text).map(({ name, type }) => `${type}: ${name}`);

  it('finds people, organisations, places, events, peoples, dates and money, with their types', () => {
    const text =
      'On 5 May 2020 Senator Margaret Whitfield met Canadian officials in Ottawa. The University of Amsterdam paid $3.5 million ' +
      'to Acme Corporation after the Battle of Gettysburg.';
    assert.deepEqual(found(text).sort(), [
      'amount: $3.5 million',
      'date: 5 May 2020',
      'event: Battle of Gettysburg',
      'group: Canadian',
      'organization: Acme Corporation',
      'organization: University of Amsterdam',
      'person: Margaret Whitfield',
      'place: Ottawa',
    ]);
  });

  it('gives every mention with its offsets, and takes a last name for the full name of the page', () => {
    const text = 'Angela Merkel spoke. Nobody heard what Merkel said in Zürich, and Merkel left.';
    const person = recognize(text).find(({ type }) => type === 'person');
    assert.equal(person?.name, 'Angela Merkel');
    assert.deepEqual(
      person?.mentions.map(({ start, end }) => text.slice(start, end)),
      ['Angela Merkel', 'Merkel', 'Merkel'],
    );
  });

  it('takes a family name of several people for the first of them, if the others came later and less often', () => {
    const names = (text: string) => recognize(text).flatMap(({ name, type }) => (type === 'person' ? [name] : []));
    const donald = 'Donald Trump spoke. Then Trump left, and Donald Trump slept.';
    assert.deepEqual(names(`${donald} Later Melania Trump came.`), ['Donald Trump', 'Melania Trump']);
    assert.deepEqual(names(`Melania Trump came. ${donald}`), ['Melania Trump', 'Donald Trump', 'Trump']);
    assert.deepEqual(names('Julian Assange and Mr. Julian P. Assange. What Assange said.'), [
      'Julian Assange',
      'Julian P. Assange',
    ]);
  });

  it('keeps letters with accents in names whole', () => {
    const text = 'He met Tomo Miličević and Vladan Đorđević in Łódź.';
    assert.deepEqual(found(text).sort(), ['person: Tomo Miličević', 'person: Vladan Đorđević', 'place: Łódź'].sort());
  });

  it('takes two awards, and an award and a person, for two', () => {
    for (const text of [
      'She won the Booker Prize and Pulitzer Prize.',
      'He holds the Nobel Prize and Fields Medal.',
      'They gave the Turing Award in Computer Science and Anna Whitfield spoke.',
    ])
      assert.ok(!recognize(text).some(({ name }) => / and /.test(name)), text);
  });

  it('knows awards with what they are for, and events with the year or number that tells which', () => {
    const text =
      'She won the Grammy Award for Best Rap Album and a Nobel Prize in Physiology or Medicine at the 89th Academy Awards. ' +
      'He swam at the 2012 Summer Olympics and sang in the Eurovision Song Contest 2011. He got the Nobel Prize in Stockholm.';
    const names = recognize(text).map(({ name }) => name);
    for (const name of [
      'Grammy Award for Best Rap Album',
      'Nobel Prize in Physiology or Medicine',
      '89th Academy Awards',
      '2012 Summer Olympics',
      'Eurovision Song Contest 2011',
      'Nobel Prize',
      'Stockholm',
    ]) {
      assert.ok(names.includes(name), `${name}: ${names.join(' | ')}`);
    }
    assert.deepEqual(
      found('In 2012 Whitfield left.').filter((name) => name.includes('2012 Whitfield')),
      [],
    );
  });

  it('joins the words of one name by small words, and leaves two names two', () => {
    const names = (text: string) => recognize(text).map(({ name }) => name);
    assert.deepEqual(names('He likes Pride and Prejudice by Jane Austen.'), ['Pride and Prejudice', 'Jane Austen']);
    assert.deepEqual(names('The Department of Health and Human Services sued Pfizer.'), [
      'Department of Health and Human Services',
      'Pfizer',
    ]);
    assert.deepEqual(names('Google and Apple sued Samsung and Nokia.'), ['Google', 'Apple', 'Samsung', 'Nokia']);
    assert.deepEqual(names('Barack Obama and Angela Merkel met in Berlin on Tuesday.'), [
      'Barack Obama',
      'Angela Merkel',
      'Berlin',
    ]);
  });

  it('takes two universities for two', () => {
    const text = 'He taught at the Humboldt University of Berlin and University of Strasbourg.';
    assert.deepEqual(found(text), [
      'organization: Humboldt University of Berlin',
      'organization: University of Strasbourg',
    ]);
  });

  it('takes names in a list for what the list is said to be of', () => {
    const typesOf = (text: string) =>
      recognize(text).flatMap(({ name, type }) => (/^(?:Zorvex|Quillip|Brantho)$/.test(name) ? [type] : []));
    assert.deepEqual(
      typesOf('They heard bands such as Zorvex, Quillip and Brantho there.'),
      Array(3).fill('organization'),
    );
    assert.deepEqual(
      typesOf('They saw cities, including Zorvex, Quillip and Brantho, last year.'),
      Array(3).fill('place'),
    );
  });

  it('does not take a capital at the beginning of a sentence for a name', () => {
    assert.deepEqual(found('Nobody came. Bread was sold. Walking is healthy.'), []);
  });

  it('takes a word that is capitalised in mid-sentence for a name at the beginning of another', () => {
    const entity = recognize('Zorblax fell. We saw how Zorblax rose.');
    assert.deepEqual(
      entity.map(({ mentions }) => mentions.length),
      [2],
    );
  });

  it('splits an office from the person who holds it', () => {
    assert.deepEqual(found('We asked CIA Director George Tenet about it.').sort(), [
      'organization: CIA',
      'person: George Tenet',
    ]);
  });

  it('reads elections with their year', () => {
    assert.deepEqual(found('It lost the 2001 United Kingdom general election badly.'), [
      'event: 2001 United Kingdom general election',
    ]);
  });

  it('reads on behind wide gaps and long addresses', () => {
    const text = `She met Angela Merkel.${' '.repeat(200)}Then Theresa Miller came. See https://example.com/${'a/'.repeat(60)} for how Emmanuel Macron answered.`;
    assert.deepEqual(found(text).sort(), [
      'person: Angela Merkel',
      'person: Emmanuel Macron',
      'person: Theresa Miller',
    ]);
  });

  it('finds nothing in addresses', () => {
    assert.deepEqual(
      found('It is at pic.example.com/QxLvmoKs and Www.Example.org/Paris; write to Paris.Hilton@Example.org soon.'),
      [],
    );
  });

  it('ends a name with the cell of a table', () => {
    const table = 'We saw how John Miller and Mary Cooper won.\nJohn Miller\t5040\t12\nMary Cooper\tJohn Miller\t63';
    assert.deepEqual(
      recognize(table).map(({ name, type, mentions }) => `${type}: ${name} ${mentions.length}`),
      ['person: John Miller 3', 'person: Mary Cooper 2'],
    );
  });

  it('takes no contraction, initial, office or compound by itself for a name', () => {
    assert.deepEqual(
      found('There I’m sure that M. said so. The Senior Vice President spoke. These were Water-based paints.'),
      [],
    );
  });

  it('takes what hangs on a number for a part of it, and leaves the comma outside a quoted title', () => {
    assert.deepEqual(found('It needs a 72W USB charger.').join(), 'organization: USB');
    assert.deepEqual(found('They played “Listen To The Music,” and left.'), ['work: Listen To The Music']);
  });

  it('takes a common word for no name where the page has it in lower case more often', () => {
    assert.deepEqual(found('Our garden is large. Every garden has trees. It was a great day for our Garden then.'), []);
  });

  it('takes a common word that is capitalised inside names only for none by itself', () => {
    const text = 'We flew to New York and to New Zealand. New pipes were laid there.';
    assert.deepEqual(found(text).sort(), ['place: New York', 'place: New Zealand']);
  });

  it('takes nouns for no names where a language capitalises all of them', () => {
    const text =
      'Die Einführung der neuen Technik ist für die Krankenhäuser eine große Aufgabe, weil der Zugriff auf die Daten der Patienten ' +
      'geregelt werden muss. Der Minister sagte in Berlin, dass die Bereitstellung der Mittel durch den Haushalt gesichert ist und dass ' +
      'die Verantwortung für den Betrieb bei den Ländern liegt, wie es das Gesetz schon lange vorsieht. Nach der Sitzung sprach Angela Johnson mit den Vertretern der Kliniken.';
    assert.deepEqual(found(text).sort(), ['person: Angela Johnson', 'place: Berlin']);
  });

  it('takes a single word with a capital inside for no person, unless it is a family’s', () => {
    const typesOf = (text: string) => recognize(text).map(({ name, type }) => `${type === 'person'} ${name}`);
    assert.deepEqual(typesOf('They asked WebFinger about it.'), ['false WebFinger']);
    assert.deepEqual(typesOf('They asked LaTeX about it, and LaTeX said who LaTeX was.'), ['false LaTeX']);
    for (const name of ['McAllister', 'LaRue', 'McCoy', 'McDonald-Smith']) {
      assert.deepEqual(typesOf(`There ${name} said who ${name} was.`), [`true ${name}`]);
    }
  });

  it('takes an abbreviation for a name that in small letters is a function word, unless all is in capitals', () => {
    const text = 'The supervisor of a US factory asked the WHO in Geneva, and they told us who knows it.';
    assert.deepEqual(
      recognize(text).map(({ name, mentions }) => `${name} ${mentions.length}`),
      ['US 1', 'WHO 1', 'Geneva 1'],
    );
    assert.deepEqual(found('She said that tools MUST NOT do this. IT IS OVER FOR US, said Anna Cooper.'), [
      'person: Anna Cooper',
    ]);
    assert.deepEqual(found('GIVE IT TO US NOW'), []);
  });

  it('reads a short text in the language that it is in', () => {
    const text =
      'Das ist am Ende eine der Fragen, die in der nächsten Woche von allen Seiten beantwortet werden müssen.';
    assert.deepEqual(found(text), []);
    assert.deepEqual(found('They saw the Zorblax in June.').join(), 'organization: Zorblax');
  });

  const turkish =
    "Bakan, salı günü Ankara'da yaptığı açıklamada, ABD'nin bu konuda yeni bir karar aldığını ve Bitcoin’in fiyatının 15 Eylül Pazartesi " +
    "günü yükseldiğini söyledi. Toplantıda ayrıca Donald Trump'ın Kanada ile ilgili sözleri de değerlendirildi.";

  it('leaves out what Turkish hangs on a name, and its months and weekdays', () => {
    const names = recognize(turkish).map(({ name }) => name);
    assert.deepEqual(names, ['Ankara', 'ABD', 'Bitcoin', 'Donald Trump', 'Kanada']);
    for (const { name, mentions } of recognize(turkish)) {
      assert.deepEqual(
        mentions.map(({ start, end }) => turkish.slice(start, end)),
        [name],
      );
    }
  });

  const spanish =
    '«¿Qué quieres tú?», le dijo a su hermano cuando los dos estaban en la casa de sus padres. —Yo no sé, pero yo creo que España y Francia ' +
    'ya no quieren hablar de eso. —Pero tú lo sabes. Después de la cena, María González se fue con él a la estación de trenes.';

  it('takes function words of other languages for no names, and does not join names by `y`', () => {
    assert.deepEqual(found(spanish), ['place: España', 'place: Francia', 'person: María González']);
    assert.deepEqual(
      found('They read the works of Ramón y Cajal in the library of the town.').map((name) => name.split(': ')[1]),
      ['Ramón y Cajal'],
    );
  });

  it('takes countries for places in the language of the page', () => {
    const russian =
      'Как сообщили вчера в министерстве, на встрече было сказано, что Россия и Германия не смогли договориться о том, как будут делить эти деньги.';
    assert.deepEqual(found(russian), ['place: Россия', 'place: Германия']);
  });

  it('finds abbreviations, countries and full names where a language capitalises all nouns', () => {
    const german =
      'Deutschland hat am Montag im Spiel gegen Österreich verloren, weil der Stürmer Michael Gregoritsch in der letzten Minute ein Tor ' +
      'schoss. Die SPÖ und die ÖVP lobten die Mannschaft im ORF für ihre Leistung. Auch Angela von der Leyen sprach mit dem Trainer.';
    assert.deepEqual(found(german).sort(), [
      'organization: ORF',
      'organization: SPÖ',
      'organization: ÖVP',
      'person: Angela von der Leyen',
      'person: Michael Gregoritsch',
      'place: Deutschland',
      'place: Österreich',
    ]);
  });

  it('takes a given name that is also a common word for a person’s before a family’s', () => {
    assert.deepEqual(found('He met Bill Clinton and Bill Gates at the White House.').slice(0, 2), [
      'person: Bill Clinton',
      'person: Bill Gates',
    ]);
  });

  it('ends a name at brackets, and at the colon behind a label', () => {
    const names = (text: string) => recognize(text).map(({ name }) => name);
    assert.deepEqual(names('We saw how Zorblax[Quillip] and `Brantho` work.'), ['Zorblax', 'Quillip', 'Brantho']);
    assert.deepEqual(names('They said on NBC: Global Quillip fell.'), ['NBC', 'Global Quillip']);
    const russian =
      'Он сказал, что в «Известиях» и «Новой газете» написал об этом сам Василий Десятников» вчера вечером.';
    assert.ok(!recognize(russian).some(({ name }) => /[«»]/.test(name)));
  });

  it('takes a title that somebody is elected to for none of the name', () => {
    assert.deepEqual(found('They met President-elect Donald Trump there.'), ['person: Donald Trump']);
  });

  it('takes any string, and gives spans inside it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        for (const { mentions } of recognize(text)) {
          for (const { start, end } of mentions) assert.ok(start >= 0 && start < end && end <= text.length);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('takes time in proportion to the length, of hostile texts, too', () => {
    for (const unit of [
      'A',
      'Of The ',
      'A. ',
      '“Aa ',
      'Director Ann ',
      'Zorb and Quill of the ',
      'he met Zorb. ',
      `${'É'.repeat(70)} `,
    ]) {
      assertGrowsInProportion(
        150_000,
        (length) => unit.repeat(length / unit.length),
        (text) => recognize(text),
        unit,
      );
    }
  });
});
