/** Reports variables that look like settings but are unknown (contract "unknown settings are ignored"). */
import { editDistance } from '../compute/text/edit-distance.ts';
import { variableName, variablesOf } from './read-settings.ts';

export interface UnknownVariable {
  name: string;
  nearest: string | null;
}

const wrongShare = 0.25;
/** Max reported names, and max characters of a name; other programs may set such variables, too. */
const maxTold = 20;
const maxNameLength = 100;

export function unknownVariables(env: NodeJS.ProcessEnv): UnknownVariable[] {
  const known = new Set(variablesOf(env).map(({ name }) => name));
  const names = [
    ...known,
    variableName(['providers', '<name>', 'base_url']),
    variableName(['providers', '<name>', 'api_key']),
  ];
  return Object.keys(env)
    .filter((name) => name.startsWith('SERVICE_') && name.length <= maxNameLength && !known.has(name))
    .sort()
    .slice(0, maxTold)
    .map((name) => ({ name, nearest: nearestOf(name, names) }));
}

export function unknownVariableText({ name, nearest }: UnknownVariable): string {
  return `${name} is not a setting and is ignored${nearest === null ? '' : `; did you mean ${nearest}?`}`;
}

function nearestOf(name: string, names: readonly string[]): string | null {
  let least = Math.floor((name.length - 'SERVICE_'.length) * wrongShare) + 1;
  let nearest: string | null = null;
  for (const each of names) {
    const edits = editDistance(name, each, least);
    if (edits >= least) continue;
    least = edits;
    nearest = each;
  }
  return nearest;
}
