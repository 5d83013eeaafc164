import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readListQuestion } from '../../../src/compute/ranking/list-questions.ts';

/** A Wednesday. */
const clock = { now: Date.parse('2026-05-20T10:00:00Z'), zone: 'Europe/Berlin' };
const shown = (at: number | null) => (at === null ? null : new Date(at).toISOString().slice(0, 13));

test('questions about reading are recognized with their topic and period, and others are not', () => {
  for (const [question, ...expected] of [
    ['When did I read about herons?', 'herons', null, null],
    ['when have I last read the article on the crash of 1929', 'the crash of 1929', null, null],
    ['Which pages about herons in March?', 'herons', '2026-02-28T23', '2026-03-31T22'],
    ['What did I read about sleep last week?', 'sleep', '2026-05-10T22', '2026-05-17T22'],
    ['What articles did I read yesterday', '', '2026-05-18T22', '2026-05-19T22'],
    ['Which articles on tides have I read since 2025?', 'tides', '2024-12-31T23', null],
    ['What did I save before April 2026', '', null, '2026-03-31T22'],
    ['What did I save until April 2026', '', null, '2026-04-30T22'],
    ['Which pages about tides did I read after March?', 'tides', '2026-03-31T22', null],
    ['Which articles about the 2008 financial crisis did I read?', 'the 2008 financial crisis', null, null],
    ['What did I read about Windows 2000?', 'Windows 2000', null, null],
    [
      'Which texts about the march on Washington did I read in 2025?',
      'the march on Washington',
      '2024-12-31T23',
      '2025-12-31T23',
    ],
    ['Which pages about the last glacial period did I read?', 'the last glacial period', null, null],
    ['Was habe ich bis März über Wien gelesen?', 'Wien', null, '2026-03-31T22'],
    ['What have I read about sleep?', 'sleep', null, null],
    ['Wann habe ich zuletzt über Reiher gelesen?', 'Reiher', null, null],
    ['Wann habe ich den Artikel zur Flut gelesen?', 'Flut', null, null],
    ['Welche Seiten über Schlaf habe ich im März gelesen?', 'Schlaf', '2026-02-28T23', '2026-03-31T22'],
    ['Was habe ich letzte Woche über Schlaf gelesen?', 'Schlaf', '2026-05-10T22', '2026-05-17T22'],
    ['Welche Artikel habe ich gestern gelesen', '', '2026-05-18T22', '2026-05-19T22'],
    ['Welche Texte zum Meer seit Mai 2025?', 'Meer', '2025-04-30T22', null],
    ['When was the heron described?'],
    ['Who read the news in March?'],
    ['What about sleep?'],
    ['What happened in March 2026?'],
    ['Which pages?'],
    ['Wann begann der Krieg?'],
    ['Was war 2025?'],
    [`When did I read ${'x'.repeat(300)}`],
    [''],
  ] as const) {
    const read = readListQuestion(question, clock);
    const found = read === null ? [] : [read.topic, shown(read.after), shown(read.before)];
    assert.deepEqual(found, expected, question);
  }
});
