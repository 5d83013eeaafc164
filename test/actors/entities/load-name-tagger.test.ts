import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadNameTagger } from '../../../src/actors/entities/load-name-tagger.ts';
import { isOperatorError } from '../../../src/domain/errors.ts';
import { temporaryFolder } from '../../scope.ts';

test('a tagger of names that is missing or damaged is refused with its path, the reason and what to do', (t) => {
  const folder = temporaryFolder(t);
  const damaged = readFileSync(join(import.meta.dirname, '../../../models/name-tagger.bin'));
  damaged[damaged.length / 2] ^= 1;
  writeFileSync(join(folder, 'damaged'), damaged);
  writeFileSync(join(folder, 'other'), 'a pointer');
  for (const [name, message] of [
    ['missing', /missing cannot be used: ENOENT.*install it again$/],
    ['other', /other cannot be used: not a name tagger.*install it again$/],
    ['damaged', /damaged cannot be used: wrong checksum.*install it again$/],
  ] as const) {
    assert.throws(
      () => loadNameTagger(join(folder, name)),
      (error) => {
        assert.ok(isOperatorError(error, 'name_tagger'));
        assert.match(error.message, message);
        return true;
      },
    );
  }
});
