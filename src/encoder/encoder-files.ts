/** The encoder's files, which come with the program (models/README.md), and facts about the model. */

import { createHash } from 'node:crypto';
import { fstatSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { errorMessage, OperatorError } from '../domain/errors.ts';
import { openedFile } from '../files/checked-file.ts';
import { programDir } from '../files/program-files.ts';

const fileSchema = z.strictObject({
  name: z.string().regex(/^[\w.-]+$/),
  bytes: z.int(),
  sha256: z.string().length(64),
});

const manifestSchema = z.strictObject({
  model: z.string(),
  dim: z.int().min(1),
  encoder: fileSchema,
  tokenizer: fileSchema,
  /** Weights that find names in the encoder's states. */
  names: fileSchema,
  /** A text and the vector that an intact runtime gives. Compared by cosine, as numbers differ between processors. */
  known: z.strictObject({ text: z.string(), vector: z.array(z.number()) }),
});
export type EncoderManifest = z.infer<typeof manifestSchema>;

export const encoderDir = join(programDir, 'models');
const blockBytes = 1 << 20;

/** Errors: those of reading the file; ZodError if it is not a manifest. */
export function readManifest(dir: string): EncoderManifest {
  return manifestSchema.parse(JSON.parse(readFileSync(join(dir, 'encoder.json'), 'utf8')));
}

/** Reads all files: some 0.1 s. Errors: OperatorError `encoder_files`, with the reason and the fix. */
export function checkEncoderFiles(dir = encoderDir): void {
  let path = join(dir, 'encoder.json');
  try {
    const { encoder, tokenizer, names } = readManifest(dir);
    for (const { name, bytes, sha256 } of [tokenizer, names, encoder]) {
      path = join(dir, name);
      const problem = faultOfFile(path, bytes, sha256);
      if (problem !== null) throw new Error(problem);
    }
  } catch (error) {
    const reason = error instanceof z.ZodError || error instanceof SyntaxError ? 'it is damaged' : errorMessage(error);
    const message = `the encoder's file ${path} cannot be used: ${reason}. It is part of readback: reinstall readback`;
    throw new OperatorError('encoder_files', message, { cause: error });
  }
}

function faultOfFile(path: string, bytes: number, sha256: string): string | null {
  using file = openedFile(path, 'r');
  const { descriptor } = file;
  const { size } = fstatSync(descriptor);
  if (size !== bytes) return `it has ${size} bytes instead of ${bytes}`;
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(blockBytes);
  for (let read = readSync(descriptor, block); read > 0; read = readSync(descriptor, block)) {
    hash.update(block.subarray(0, read));
  }
  return hash.digest('hex') === sha256 ? null : 'its content was changed';
}
