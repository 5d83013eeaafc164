/** The check of the encoder's files before a start. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isOperatorError } from '../../src/domain/errors.ts';
import { checkEncoderFiles } from '../../src/encoder/encoder-files.ts';
import { tinyEncoder } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';

const faults: [what: string, file: string, spoil: (path: string) => void, says: RegExp][] = [
  ['a missing model', 'encoder.onnx', rmSync, /encoder\.onnx cannot be used: .*no such file/],
  ['a missing manifest', 'encoder.json', rmSync, /encoder\.json cannot be used: .*no such file/],
  ['a manifest that is none', 'encoder.json', (path) => writeFileSync(path, '{'), /encoder\.json .* it is damaged/],
  [
    'a cut tokenizer',
    'tokenizer.bin',
    (path) => writeFileSync(path, readFileSync(path).subarray(1)),
    /tokenizer\.bin .*bytes instead of/,
  ],
  [
    'a flipped bit',
    'encoder.onnx',
    (path) => {
      const bytes = readFileSync(path);
      bytes[bytes.length >> 1] ^= 1;
      writeFileSync(path, bytes);
    },
    /encoder\.onnx .*content was changed/,
  ],
];

test('the installed files are sound', () => {
  checkEncoderFiles();
  checkEncoderFiles(tinyEncoder.SERVICE_ENCODER__DIR);
});

for (const [what, file, spoil, says] of faults) {
  test(`${what} is named, with what to do`, (t) => {
    const dir = temporaryFolder(t);
    cpSync(tinyEncoder.SERVICE_ENCODER__DIR, dir, { recursive: true });
    spoil(join(dir, file));
    assert.throws(
      () => checkEncoderFiles(dir),
      (error) =>
        isOperatorError(error, 'encoder_files') && says.test(error.message) && /reinstall readback/.test(error.message),
    );
  });
}
