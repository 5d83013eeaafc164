import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bytesText,
  columnsOf,
  durationText,
  fitted,
  folded,
  helpColumns,
  openTerminal,
  plain,
  table,
  textWidth,
  wrapped,
} from '../../src/cli/output.ts';

test('text of pages cannot steer the terminal, nor turn the direction of writing', () => {
  assert.equal(plain('a\x1b[31mred\x1b]0;title\x07 b\r\nc\u202ed'), 'a [31mred ]0;title  b c d');
  assert.equal(plain('x'.repeat(50), 10), `${'x'.repeat(9)}…`);
  assert.equal(plain('a family: 👨‍👩‍👧'), 'a family: 👨‍👩‍👧');
});

test('colours and progress are for terminals only', () => {
  const written: string[] = [];
  const stream = (isTTY: boolean) =>
    ({ isTTY, write: (text: string) => written.push(text) > 0 }) as unknown as NodeJS.WriteStream;
  let time = 0;
  const open = (isTTY: boolean, colors: boolean) =>
    openTerminal({ stdout: stream(isTTY), stderr: stream(isTTY), colors, monotonic: () => (time += 1000) });
  open(false, true).progress('half');
  assert.equal(open(false, true).style('red', 'x'), 'x');
  assert.equal(open(true, false).style('red', 'x'), 'x');
  assert.deepEqual(written, []);
  const terminal = open(true, true);
  assert.equal(terminal.style('red', 'x'), '\x1b[31mx\x1b[0m');
  assert.equal(open(false, true).link('x', 'https://e.com/'), 'x');
  assert.equal(terminal.link('x', 'https://e.com/'), '\x1b]8;;https://e.com/\x1b\\x\x1b]8;;\x1b\\');
  assert.equal(terminal.link('x', 'https://e.com/\x1b]8;;'), 'x', 'an address cannot end the sequence');
  terminal.progress('half');
  terminal.say('done');
  assert.deepEqual(written, ['\r\x1b[Khalf', '\r\x1b[K', 'done\n']);
});

test('tables and sizes', () => {
  assert.deepEqual(
    table([
      ['a', 'bb'],
      ['ccc', 'd'],
    ]),
    ['a    bb', 'ccc  d'],
  );
  assert.deepEqual([999, 1000, 99_960, 999_700, 5e9].map(bytesText), ['999 B', '1.0 kB', '100 kB', '1.0 MB', '5.0 GB']);
});

test('text of East Asia and emoji take two columns, in tables and where lines are cut', () => {
  const widths: [string, number][] = [
    ['plain', 5],
    ['日本語', 6],
    ['한국어 ', 7],
    ['中文、标题。', 12],
    ['ｱｲｳ', 3],
    ['e\u0301', 1],
    ['👨‍👩‍👧', 2],
    ['🇩🇪!', 3],
    ['·—…é', 4],
    ['\x1b]8;;https://e.com/#:~:text=a%20b,c\x1b\\a b\x1b]8;;\x1b\\', 3],
  ];
  for (const [text, width] of widths) assert.equal(textWidth(text), width, text);
  assert.deepEqual(
    table([
      ['日本', 'b'],
      ['a', 'c'],
    ]),
    ['日本  b', 'a     c'],
  );
  assert.equal(fitted('日本語のタイトル', 8), '日本語…');
  assert.equal(fitted('日本語', 6), '日本語');
  assert.equal(fitted('abcdef', 4), 'abc…');
});

test('help is as wide as the terminal, 80 columns where nobody says, and never wider than is read with ease', () => {
  assert.deepEqual(
    [helpColumns({}, {}), helpColumns({}, { columns: 60 }), helpColumns({}, { columns: 300 })],
    [80, 60, 100],
  );
  assert.deepEqual([helpColumns({ COLUMNS: '72' }, { columns: 300 }), helpColumns({}, { columns: 5 })], [72, 40]);
  assert.deepEqual([columnsOf({ COLUMNS: 'many' }), columnsOf({ COLUMNS: '120' })], [undefined, 120]);
});

test('text is broken at blanks, and where a word has no room; no line is wider', () => {
  assert.deepEqual(wrapped('one two three', 8), ['one two', 'three']);
  assert.deepEqual(wrapped('one two three', 9, '  '), ['  one two', '  three']);
  assert.deepEqual(wrapped('日本語のタイトル', 6), ['日本語', 'のタイ', 'トル']);
  assert.deepEqual(wrapped('a abcdef b', 4), ['a', 'abcd', 'ef b']);
  assert.deepEqual(wrapped('one two three', Number.POSITIVE_INFINITY), ['one two three']);
  assert.deepEqual(wrapped('', 10), ['']);
});

test('a longer line continues below its last column or indent, with its words whole and its styles uncounted', () => {
  for (const [line, columns, lines] of [
    ['short', 5, ['short']],
    ['one two three', 8, ['one two', 'three']],
    ['  one two three', 9, ['  one two', '  three']],
    ['id  name  a b c d e f', 20, ['id  name  a b c d e', '          f']],
    ['a very long column  value more', 16, ['a very long', 'column  value', 'more']],
    ['at https://example.org/long ok', 12, ['at', 'https://example.org/long', 'ok']],
    ['\x1b[32mok\x1b[0m  a b', 7, ['\x1b[32mok\x1b[0m  a b']],
  ] as const)
    assert.deepEqual(folded(line, columns), lines);
});

test('progress is cut to the width of the terminal, and durations are rounded', () => {
  const written: string[] = [];
  const stderr = {
    isTTY: true,
    columns: 20,
    write: (text: string) => written.push(text) > 0,
  } as unknown as NodeJS.WriteStream;
  const terminal = openTerminal({ stdout: stderr, stderr, colors: false, monotonic: () => performance.now() });
  terminal.progress('as long as no line of it');
  assert.equal(written.at(-1), '\r\x1b[Kas long as no line…');
  assert.deepEqual([0.2, 89, 90, 5100, 7200].map(durationText), ['1 s', '89 s', '2 min', '85 min', '2 h']);
});
