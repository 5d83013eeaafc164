/** Reads the tagger of names that comes with the program (models/README.md), at every start. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NameTagger, openNameTagger } from '../../compute/entities/name-tagger.ts';
import { errorMessage } from '../../domain/error-message.ts';
import { OperatorError } from '../../domain/errors.ts';
import { programDir } from '../../files/program-files.ts';

const installedPath = join(programDir, 'models', 'name-tagger.bin');

/** Checksum verified. Errors: OperatorError `name_tagger` where the file is missing, unreadable or damaged. */
export function loadNameTagger(path = installedPath): NameTagger {
  try {
    return openNameTagger(readFileSync(path));
  } catch (error) {
    const reason = `the tagger of names at ${path} cannot be used: ${errorMessage(error)}`;
    throw new OperatorError('name_tagger', `${reason}. It is a part of readback: install it again`, { cause: error });
  }
}
