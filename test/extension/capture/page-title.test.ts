import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageTitle, type TitleSigns } from '../../../extension/src/capture/page-title.ts';

const plain: TitleSigns = {
  title: 'How herons fish - The Valley Times',
  shared: ['How herons fish'],
  siteName: '',
  sharedAddress: '',
  headings: [],
  address: 'https://www.valley-news.example/nature/herons?from=home',
  hasMoved: false,
};

const cases: [what: string, signs: Partial<TitleSigns>, expected: string][] = [
  ['the tab has the name of the site behind it', {}, 'How herons fish'],
  ['none is there', { shared: [] }, 'How herons fish - The Valley Times'],
  ['it is empty', { shared: [' ', '–'] }, 'How herons fish - The Valley Times'],
  ['the tab has none', { title: '' }, 'How herons fish'],
  ['neither is there', { title: '', shared: [] }, ''],
  ['lines and spaces', { shared: ['\n How   herons\nfish '] }, 'How herons fish'],
  ['a count of messages before the tab’s', { title: '(3) How herons fish / X' }, 'How herons fish'],
  ['a headline in other words', { shared: ['Ten secrets of herons'] }, 'Ten secrets of herons'],
  [
    'the tab’s is a part of it',
    { title: 'Herons', shared: ['Herons, and how they fish'] },
    'Herons, and how they fish',
  ],
  [
    'it is the name of the site, declared',
    { title: 'How herons fish', shared: ['The Valley Times'], siteName: 'The Valley Times' },
    'How herons fish',
  ],
  ['the name of the site by the host', { title: 'How herons fish', shared: ['Valley News'] }, 'How herons fish'],
  ['the name of the site, as the tab has it last', { shared: ['The Valley Times'] }, plain.title],
  ['the site’s name before the title', { title: 'Valley News: How herons fish' }, 'How herons fish'],
  [
    'the last part of the tab’s title is the heading',
    { title: 'Nature | How herons fish', headings: ['How herons fish'] },
    'How herons fish',
  ],
  [
    'the start page of a site, which is called after it',
    { title: 'Valley News', shared: ['Valley News'], headings: [] },
    'Valley News',
  ],
  [
    'one for every page, with the address of the first',
    { title: 'Invoice 42', shared: ['The best books for herons'], sharedAddress: 'https://valley-news.example/' },
    'Invoice 42',
  ],
  [
    'the same address, written otherwise',
    { shared: ['Ten secrets of herons'], sharedAddress: 'http://valley-news.example/nature/herons/' },
    'Ten secrets of herons',
  ],
  [
    'an address that is none',
    { shared: ['Ten secrets of herons'], sharedAddress: 'http://[' },
    'Ten secrets of herons',
  ],
  [
    'left of the view before',
    { title: 'How storks fly - The Valley Times', hasMoved: true },
    'How storks fly - The Valley Times',
  ],
  [
    'of the view before and of this one',
    { title: 'How storks fly - The Valley Times', shared: ['How herons fish', 'How storks fly'], hasMoved: true },
    'How storks fly',
  ],
  [
    'of this view, whose heading says the same and whose tab is behind',
    { title: 'The Valley Times', shared: ['How storks fly'], headings: ['How storks fly'], hasMoved: true },
    'How storks fly',
  ],
];

for (const [what, signs, expected] of cases) {
  test(`title: ${what}`, () => assert.equal(pageTitle({ ...plain, ...signs }), expected));
}
