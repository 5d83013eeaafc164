import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { languages } from '../../../src/compute/text/language-tags.ts';
import { stemIn } from '../../../src/compute/text/stemmers.ts';

/** Letters of the scripts in which languages with a stemmer are written. */
const scripts = [
  'abcdefghijklmnopqrstuvwxyzäöüßåøæéèêëàâçîïôûùñáíóúőűąčęėįšųūžăâîșțğışł',
  'абвгґдђеєёжзиійїјклљмнњопрстћуфхцчџшщъыьэюя αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ',
  'ابتثجحخدذرزسشصضطظعغفقكلمنهويءآأؤإئةى աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆև',
  'अआइईउऊएऐओऔकखगघचछजझटठडढणतथदधनपफबभमयरलवशषसहािीुूेैोौं् அஆஇஈஉஊஎஏஐஒஓகஙசஞடணதநபமயரலவழளறனாிீுூெேைொோௌ்',
].flatMap((line) => line.split(' '));
const words = fc.oneof(
  ...scripts.map((letters) => fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 15 })),
);

test('whatever a word is, in every language it has a stem that is not empty, or the rules say nothing of it', () => {
  fc.assert(
    fc.property(words, (word) => {
      for (const language of languages) assert.notEqual(stemIn(language, word), '', `${word} in ${language}`);
    }),
    { numRuns: 800 },
  );
});

test('forms of a Bulgarian word have one stem, also where its last consonant changes', () => {
  for (const forms of [
    ['вълк', 'вълкът'],
    ['ученик', 'ученици', 'учениците'],
    ['книга', 'книги', 'книгата', 'книгите'],
    ['кожух', 'кожуси', 'кожусите'],
  ])
    assert.equal(new Set(forms.map((form) => stemIn('bg', form))).size, 1, forms.join(' '));
});
