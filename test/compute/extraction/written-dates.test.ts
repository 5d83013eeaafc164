import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressDate, writtenDate } from '../../../src/compute/extraction/written-dates.ts';

test('dates are read as they are written in many languages', () => {
  const texts = [
    'Samstag, 19. Juli 2014',
    'Stand: 09.07.2014, 01:40 Uhr',
    'By oz on July 9, 2014 at noon',
    'le 1er juillet 2014',
    '9 de julio de 2014',
    '9 lipca 2014',
    '9 июля 2014',
    '2014年7月9日',
    '2014년 7월 9일',
    '2014/07/09 01:10',
    '19/07/2014',
    '07/19/2014',
    '9th of July 2014',
  ];
  assert.deepEqual(
    texts.map((text) => writtenDate(text)?.slice(0, 10)),
    [
      '2014-07-19',
      ...Array(2).fill('2014-07-09'),
      '2014-07-01',
      ...Array(6).fill('2014-07-09'),
      ...Array(2).fill('2014-07-19'),
      '2014-07-09',
    ],
  );
});

test('what is no date, or may be two, is none', () => {
  for (const text of [
    '05/06/2019',
    'v1.12.2014.5',
    '31.02.2014',
    '32. Juli 2014',
    'May I ask 2014 times',
    '12 Quux 2014',
    '',
  ]) {
    assert.equal(writtenDate(text), null, text);
  }
});

test('an address says its date in its path', () => {
  assert.equal(addressDate('https://example.org/a/20140719/b'), '2014-07-19T00:00:00.000Z');
  assert.equal(addressDate('https://example.org/?d=2014/07/19'), null);
  assert.equal(addressDate('https://example.org/12345678/b'), null);
  assert.equal(addressDate('no address'), null);
});
