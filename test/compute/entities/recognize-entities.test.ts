import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { createEntityRecognizer, type EntityRecognizer } from '../../../src/compute/entities/recognize-entities.ts';
import { createWordKinds } from '../../../src/compute/entities/word-kinds.ts';
import { within } from '../../within.ts';

describe('the entity recogniser, by its lexicon alone', () => {
  let recognize: EntityRecognizer;
  before(() => {
    recognize = createEntityRecognizer(createWordKinds(null));
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

  it('keeps letters with accents in names whole', () => {
    const text = 'He met Tomo Miličević and Vladan Đorđević in Łódź.';
    assert.deepEqual(found(text).sort(), ['person: Tomo Miličević', 'person: Vladan Đorđević', 'place: Łódź'].sort());
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

  it('takes time in proportion to the length, of hostile texts, too', async () => {
    const hostile = [
      'A'.repeat(200_000),
      'Of The '.repeat(30_000),
      'A. '.repeat(60_000),
      '“Aa '.repeat(40_000),
      'É'.repeat(70).concat(' ').repeat(2000),
    ];
    for (const text of hostile) await within(20_000, () => recognize(text), text.slice(0, 10));
  });
});
