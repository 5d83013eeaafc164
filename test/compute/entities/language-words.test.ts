import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calendarWords, countryNames } from '../../../src/compute/entities/language-words.ts';

test('months and weekdays are those that a language writes with a capital', () => {
  const turkish = calendarWords('tr');
  for (const word of [
    'ocak',
    'eylül',
    'aralık',
    'pazartesi',
    'salı',
    'çarşamba',
    'perşembe',
    'cuma',
    'cumartesi',
    'pazar',
  ])
    assert.ok(turkish.has(word), word);
  assert.equal(calendarWords('es').size, 0);
  assert.equal(calendarWords('').size, 0);
});

test('countries have the names that the language gives them', () => {
  assert.ok(countryNames('de').has('österreich'));
  assert.ok(countryNames('es').has('españa'));
  assert.equal(countryNames('de').has('europäische union'), false);
});
