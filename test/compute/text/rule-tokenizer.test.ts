import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { tokenEnds } from '../../../src/compute/text/rule-tokenizer.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

const analyzer = createTextAnalyzer();

test('words, numbers and marks are cut as people read them', () => {
  const cases: Record<string, string> = {
    cannot: 'can not',
    "can't": "ca n't",
    dont: 'do nt',
    Doesnt: 'doe nt',
    Ive: 'i ve',
    theyll: 'they ll',
    "who's": "who 's",
    'women’s': "woman 's",
    "boys'": 'boy',
    "'tis": 'tis',
    "o'clock": "o'clock",
    "rock'n'roll": 'rock n roll',
    "l'eau": "l' eau",
    'U.S.': 'us',
    'U.S.-based': 'us base',
    '(i.e.,': 'ie',
    'Ph.D.': 'ph d',
    'a.m.': 'am',
    'node.js': 'node js',
    '1,299.99': '1299.99',
    '11.22.63': '11.22.63',
    '10am': '10am',
    '24/7': '24 7',
    '3D': '3 d',
    '4x4': '4 x4',
    '5.56×45mm': '5.56 45 mm',
    '6th': '6th',
    '111th': '1 11th',
    '70s': '70s',
    '1980s': '1980s',
    '19s': '19 s',
    '1980er-Jahren': '1980 er jahren',
    '221B': '221 b',
    '0x1f': '0 x1f',
    'F-16': 'f 16',
    "cow's-milk": "cow 's milk",
    'solution--i.e.,': 'solut ie',
    'AT&T': 'at t',
    'foo()': 'foo',
    '„die”': 'die',
    snake_case: 'snake case',
    'है?': 'है',
    '√3': '3',
    'β-blocker': 'β blocker',
  };
  for (const [text, stems] of Object.entries(cases)) assert.equal(analyzer.terms(text).stems.join(' '), stems, text);
});

test('a stretch of any kind takes time in proportion to its length', () => {
  for (const unit of ['a', '1', "'", '.', '1.', "a'", 'a-', '1a', '$1', 'a.', '\u0301'])
    assertGrowsInProportion(32_000, (size) => unit.repeat(size / unit.length), tokenEnds);
});
