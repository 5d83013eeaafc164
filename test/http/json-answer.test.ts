import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TextInParts } from '../../src/domain/rows.ts';
import { jsonOf, LargeJson, pieceLength, slicesOf } from '../../src/http/json-answer.ts';
import { LoopShare } from '../../src/http/loop-share.ts';

async function textOf(answer: string | LargeJson): Promise<string> {
  if (typeof answer === 'string') return answer;
  let text = '';
  for await (const piece of answer.pieces(new LoopShare())) text += piece;
  return text;
}

test('any value has the JSON that it has at once, whatever its size', async () => {
  const filler = 'x'.repeat(pieceLength);
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.boolean(), async (value, isLarge) => {
      const answer = isLarge ? { value, filler, list: [value, filler, undefined, null], left: undefined } : value;
      assert.equal(await textOf(jsonOf(answer)), JSON.stringify(answer));
    }),
  );
});

test('a long text is cut into pieces, and no character between its halves', async () => {
  for (const shift of [0, 1]) {
    const text = 'a'.repeat(shift) + '\u{1F600}\u0001"'.repeat(pieceLength);
    assert.equal([...slicesOf(text)].join(''), text);
    const answer = jsonOf({ text });
    assert.ok(answer instanceof LargeJson);
    assert.equal(await textOf(answer), JSON.stringify({ text }));
    assert.ok(answer.units >= text.length);
    for await (const piece of answer.pieces(new LoopShare())) {
      assert.ok(piece.length <= 12 * pieceLength);
      assert.ok(piece.isWellFormed(), 'a piece becomes bytes by itself');
    }
  }
});

test('rows are made as the pieces are taken', async () => {
  let made = 0;
  const rowsOf = async function* (count: number) {
    while (made < count) yield { no: made++, text: 'x'.repeat(pieceLength / 4) };
  };
  const pieces = new LargeJson({ before: 1, rows: rowsOf(1_000) }).pieces(new LoopShare());
  await pieces.next();
  assert.equal(made, 4);
  await pieces.next();
  assert.ok(made <= 9);
  await pieces.return(undefined);

  for (const count of [0, 1, 7]) {
    made = 0;
    const text = await textOf(jsonOf({ rows: rowsOf(count), after: [2] }));
    const rows = Array.from({ length: count }, (_, no) => ({ no, text: 'x'.repeat(pieceLength / 4) }));
    assert.equal(text, JSON.stringify({ rows, after: [2] }));
  }
});

test('a text that is read in parts is one text of the answer', async () => {
  const parts = async function* () {
    for (let no = 0; no < 5; no++) yield `${no}"\n\u{1F600}`.repeat(pieceLength / 2);
  };
  let text = '';
  for await (const part of parts()) text += part;
  const answer = jsonOf({ before: 1, text: new TextInParts(parts()), after: [null] });
  assert.equal(await textOf(answer), JSON.stringify({ before: 1, text, after: [null] }));
});

test('many answers are made in turns: one piece in one turn of the loop', async () => {
  let inTurn = 0;
  let most = 0;
  const share = new LoopShare();
  const rows = async function* () {
    for (let no = 0; no < 20; no++) {
      most = Math.max(most, ++inTurn);
      yield 'x'.repeat(pieceLength);
    }
  };
  let going = true;
  const newTurn = () => {
    inTurn = 0;
    if (going) setImmediate(newTurn);
  };
  const answers = Array.from({ length: 10 }, () => new LargeJson({ rows: rows() }).pieces(share));
  await Promise.all(answers.map((pieces) => pieces.next())); // the first ones come with their requests, which have turns
  most = 0;
  newTurn();
  await Promise.all(
    answers.map(async (pieces) => {
      for await (const _piece of pieces);
    }),
  );
  going = false;
  assert.ok(most <= 2, `${most} pieces in one turn`);
});
