/** That names can be found at all: contract, "Startup requires the entity-extraction capability to be installed". */
import { createRequire } from 'node:module';
import { OperatorError } from '../../domain/errors.ts';

/** What the recogniser is made of, loaded by its thread when it is first needed. */
const parts = ['compromise/two', 'wink-nlp', 'wink-eng-lite-web-model'];

/** Errors: OperatorError `entity_capability`. `resolve` finds a package's file. */
export function requireEntityCapability(
  resolve: (name: string) => unknown = createRequire(import.meta.url).resolve,
): void {
  const missing = parts.filter((name) => {
    try {
      resolve(name);
      return false;
    } catch {
      return true; // why it cannot be found makes no difference: it is told by its name
    }
  });
  if (missing.length === 0) return;
  throw new OperatorError(
    'entity_capability',
    `entity extraction is not installed: ${missing.join(', ')} cannot be found; run npm ci in the service's folder`,
  );
}
