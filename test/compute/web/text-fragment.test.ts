/** Links that open a page at a passage. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textFragmentLink } from '../../../src/compute/web/text-fragment.ts';

const url = 'https://example.com/a';

/** The link for the passage between the brackets. */
function linkOf(marked: string, address = url): string {
  const start = marked.indexOf('[');
  const text = marked.slice(0, start) + marked.slice(start + 1).replace(']', '');
  return textFragmentLink(address, text, { start, end: marked.indexOf(']') - 1 });
}

/** The phrases of the fragment, decoded. */
const phrasesOf = (marked: string): string[] =>
  linkOf(marked).slice(`${url}#:~:text=`.length).split(',').map(decodeURIComponent);

test('a passage is named by its first and its last words', () => {
  const text =
    'Before it. [The governor closes the valve as the engine runs faster. It opens it as it slows down.] Behind.';
  assert.equal(linkOf(text), `${url}#:~:text=The%20governor%20closes%20the%20valve%20as,as%20it%20slows%20down`);
});

test('a short passage is named by all its words', () => {
  assert.deepEqual(phrasesOf('See also: [two balls.]'), ['two balls']);
});

test('a fragment that the address has is kept, and so is a directive', () => {
  assert.equal(linkOf('[oak]', 'https://e.com/#!/a'), 'https://e.com/#!/a:~:text=oak');
  assert.equal(linkOf('[oak]', 'https://e.com/#:~:text=elm'), 'https://e.com/#:~:text=elm&text=oak');
});

test('what the syntax uses itself is percent-encoded', () => {
  assert.deepEqual(linkOf('[re-entry R&D at 1,000]'), `${url}#:~:text=re%2Dentry%20R%26D%20at%201%2C000`);
  assert.ok(!/[-,&()]/.test(linkOf('[a-b (c), d & e]').slice(`${url}#:~:text=`.length)));
});

test('the first words are as many as no earlier place has', () => {
  const twice =
    'The governor closes the valve at noon.\n[The governor closes the valve at once, whatever the engine does then or later.]';
  assert.deepEqual(phrasesOf(twice), ['The governor closes the valve at once', 'does then or later']);
  const all =
    'the governor CLOSES the valve.\n[The governor closes the valve. And what follows it is another sentence of some length.]';
  assert.deepEqual(
    phrasesOf(all),
    ['And what follows it is another', 'sentence of some length'],
    'else the next sentence that has some',
  );
  assert.deepEqual(phrasesOf('Oak. [Oak.]'), ['Oak'], 'else what there is');
});

test('the last words are as many as nothing between has', () => {
  const text = '[One says that it opens the valve as it slows down. No, said the other: not so, as it slows down.]';
  assert.deepEqual(phrasesOf(text), ['One says that it opens the', 'so, as it slows down']);
});

test('phrases are of one block each, without markers of items; headings are left out', () => {
  const text = '[Engines\n\n- The governor closes the valve\n- Two balls swing outwards as it turns\n\nMore]';
  assert.deepEqual(phrasesOf(text), ['The governor closes the valve', 'outwards as it turns']);
  assert.deepEqual(phrasesOf('[Name\tYear\nWatt\t1788]'), ['Name', '1788']);
});

test('half a word at an end of the passage is left out', () => {
  assert.deepEqual(phrasesOf('The gov[ernor closes the valve as the engine runs faster and fas]ter.'), [
    'closes the valve as the engine',
    'runs faster and',
  ]);
});

test('scripts without spaces are cut where words end', () => {
  const [first, last] = phrasesOf('[吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。]');
  assert.ok('吾輩は猫である'.startsWith(first) || '吾輩は猫である。名前はまだ無い'.startsWith(first), first);
  assert.ok(last === undefined || 'どこで生れたかとんと見当がつかぬ'.endsWith(last), last);
});

test('a passage without words is the page itself; lone surrogates and words without end are none', () => {
  assert.equal(linkOf('[*** ---]'), url);
  assert.equal(linkOf('[]'), url);
  assert.ok(linkOf(`[${'x'.repeat(5000)} The governor closes the valve \ud800]`).length < 1000);
});
