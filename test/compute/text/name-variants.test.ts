import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { variantOf } from '../../../src/compute/text/name-variants.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

/** Pairs of one type: `type`, one name, another. */
type Pairs = readonly (readonly [type: string, one: string, other: string])[];

const same: Readonly<Record<string, Pairs>> = {
  case: [
    ['organization', 'YouTube', 'Youtube'],
    ['organization', 'ПРАВДА', 'Правда'],
    ['place', 'ISTANBUL', 'Istanbul'],
  ],
  punctuation: [
    ['person', 'Ben-Gurion', 'Ben Gurion'],
    ['organization', 'Yahoo!', 'Yahoo'],
    ['organization', 'U.S. Steel', 'US Steel'],
    ['organization', 'AC/DC', 'ACDC'],
    ['place', 'Washington, D.C.', 'Washington DC'],
    ['person', 'Conan O’Brien', "Conan O'Brien"],
    ['organization', "L'Oréal", 'L’Oreal'],
    ['organization', 'Marks & Spencer', 'Marks and Spencer'],
    ['organization', 'Müller & Söhne', 'Müller und Söhne'],
    ['person', 'ジョン・レノン', 'ジョン レノン'],
    ['work', 'Java™', 'Java'],
    ['place', 'Hawaiʻi', 'Hawaii'],
    ['event', 'Covid-19', 'COVID 19'],
  ],
  spacing: [
    ['organization', 'Al-Qaeda', 'AlQaeda'],
    ['organization', 'Git Hub', 'GitHub'],
    ['person', 'J. R. R. Tolkien', 'J.R.R. Tolkien'],
    ['person', 'JRR Tolkien', 'J R R Tolkien'],
    ['work', 'F-16', 'F 16'],
    ['work', 'LM AS-206', 'LM AS206'],
    ['organization', 'N.W.A', 'NWA'],
    ['person', 'CHOU EN-LAI', 'Chou Enlai'],
    ['work', 'Node.js', 'NodeJS'],
    ['person', '김 철수', '김철수'],
    ['work', 'Boeing 747-400', 'Boeing 747 400'],
  ],
  diacritics: [
    ['place', 'México', 'Mexico'],
    ['person', 'Søren Kierkegaard', 'Soren Kierkegaard'],
    ['person', 'Franz Josef Strauß', 'Franz Josef Strauss'],
    ['place', 'Łódź', 'Lodz'],
    ['person', 'محمّد', 'محمد'],
    ['place', 'Орёл', 'Орел'],
  ],
  possessives: [
    ['organization', 'Apple’s', 'Apple'],
    ['person', "Einstein's", 'Einstein'],
    ['place', "US's", 'United States'],
    ['organization', "the Beatles'", 'the Beatles'],
    ['organization', "McDonald's", 'McDonalds'],
    ['person', "Elton John's", 'Elton John'],
    ['organization', "King's College", 'Kings College'],
  ],
  'known abbreviations': [
    ['place', 'US', 'United States'],
    ['place', 'U.S.A.', 'United States of America'],
    ['place', 'U.K.', 'United Kingdom'],
    ['place', 'EE.UU.', 'Estados Unidos'],
    ['place', 'США', 'Соединенные Штаты'],
    ['organization', 'WHO', 'World Health Organization'],
    ['place', 'St. Petersburg', 'Saint Petersburg'],
    ['place', 'Wall St.', 'Wall Street'],
    ['place', 'Mt. Everest', 'Mount Everest'],
    ['organization', 'Ford Motor Co.', 'Ford Motor Company'],
    ['person', 'Martin Luther King, Jr.', 'Martin Luther King Junior'],
    ['event', 'WWII', 'World War II'],
  ],
};

const different: Readonly<Record<string, Pairs>> = {
  'a word more': [
    ['place', 'Mexico', 'New Mexico'],
    ['organization', 'Royal New Zealand Navy', 'Royal Navy'],
    ['work', 'iPhone 11 Pro', 'iPhone 11'],
    ['organization', 'Labour', 'Labour Party'],
    ['place', 'Palm Beach', 'West Palm Beach'],
    ['organization', 'Acme Corporation', 'Acme'],
    ['person', 'Donald J. Trump', 'Donald Trump'],
    ['organization', 'The Who', 'Who'],
    ['place', 'Frankfurt am Main', 'Frankfurt'],
    ['work', 'Node.js', 'Node'],
    ['organization', '東京大学', '東京'],
  ],
  'a part of what "and" joins': [
    ['organization', 'Johnson and Johnson', 'Johnson'],
    ['organization', 'Simon & Garfunkel', 'Simon Garfunkel'],
    ['place', 'Trinidad and Tobago', 'Trinidad'],
    ['work', 'Pride and Prejudice', 'Prejudice'],
    ['organization', 'AT&T', 'ATT'],
    ['organization', 'H&M', 'HM'],
    ['place', 'Bosnien und Herzegowina', 'Herzegowina'],
  ],
  'another spelling': [
    ['person', 'Aleksandr Solzhenitsyn', 'Aleksandr Solzhenitzyn'],
    ['person', 'Marina Kowalska', 'Martina Kowalska'],
    ['place', 'Austria', 'Australia'],
    ['person', 'John Smith', 'Jon Smith'],
    ['organization', 'University of Dundee', 'University of Denver'],
  ],
  'another number': [
    ['event', 'World War I', 'World War II'],
    ['work', 'Python 3.10', 'Python 310'],
    ['work', 'Windows 3.1', 'Windows 31'],
    ['event', '2001 election', '2005 election'],
    ['person', 'Henry V', 'Henry VI'],
  ],
  'another order': [
    ['work', 'Object to String', 'String to Object'],
    ['person', 'Ali Hassan', 'Hassan Ali'],
  ],
  'a sign that counts': [
    ['work', 'C', 'C++'],
    ['work', 'C', 'C#'],
    ['organization', 'Disney+', 'Disney'],
  ],
  'a letter that is a word': [
    ['work', 'Model S', 'Models'],
    ['work', 'Plan B', 'Planb'],
  ],
  'being an abbreviation': [
    ['person', 'Bob', 'B.o.B'],
    ['person', 'Gao’s', 'GAO'],
    ['person', 'Po', 'P.O.'],
    ['person', 'Co.', 'Cơ'],
    ['place', 'Mass.', 'Mass'],
    ['place', 'A-Z', 'AZ'],
    ['place', 'US$', 'US'],
  ],
  'part of a full name': [
    ['person', 'Smith', 'John Smith'],
    ['person', 'Angela', 'Angela Merkel'],
  ],
  'what only looks like an abbreviation or a possessive': [
    ['work', 'Us', 'United States'],
    ['organization', 'Who', 'World Health Organization'],
    ['place', 'St. John’s', 'St. John'],
    ['organization', 'McDonald’s', 'McDonald'],
    ['place', 'Co. Down', 'Company Down'],
    ['organization', 'Bush family', 'Bush'],
    ['organization', 'King’s College', 'King College'],
  ],
  'dates and amounts': [['date', '5 May 2020', '5 May 2020.']],
};

describe('two names of one type', () => {
  const isSame = (type: string, one: string, other: string) => {
    const form = variantOf(type, one);
    return form !== null && form === variantOf(type, other);
  };
  for (const [kind, pairs] of Object.entries(same)) {
    it(`are one that differ in ${kind}`, () => {
      const apart = pairs.filter(([type, one, other]) => !isSame(type, one, other));
      assert.deepEqual(apart, []);
    });
  }
  for (const [kind, pairs] of Object.entries(different)) {
    it(`are two that differ in ${kind}`, () => {
      const merged = pairs.filter(([type, one, other]) => isSame(type, one, other));
      assert.deepEqual(merged, []);
    });
  }

  it('are none where no letter or number is in them', () => {
    for (const name of ['', '!!!', '…', ' ']) assert.equal(variantOf('organization', name), null);
  });

  it('are one where only white space differs, whatever they are written with', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        assert.equal(variantOf('work', `${name} x`), variantOf('work', ` ${name}  x `));
      }),
    );
  });

  it('are compared in time in proportion to their length', () => {
    assertGrowsInProportion(
      20_000,
      (length) => `${'a. '.repeat(length)}1-2 'x' `.repeat(2),
      (name) => variantOf('work', name),
    );
  });
});
