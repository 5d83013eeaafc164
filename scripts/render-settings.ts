// docs/settings.md from the settings' schema. A test compares the file with what this returns.
import { z } from 'zod';
import { fixedVariables, type Variable, variableName } from '../src/settings/environment.ts';
import { provider } from '../src/settings/indexing-settings.ts';
import { metaOf, ruleOf } from '../src/settings/rule.ts';

function defaultOf(schema: z.ZodType): string {
  const { defaultText } = metaOf(schema);
  if (defaultText !== undefined) return defaultText;
  const value: unknown = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
  return value === null ? 'none' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function row({ path, name, schema }: Variable): string {
  const { description } = metaOf(schema);
  return `| ${[`\`${path.join('.')}\``, `\`${name}\``, defaultOf(schema), ruleOf(schema), description].map(cell).join(' | ')} |`;
}

const head = ['| Setting | Variable | Default | Accepts | |', '| --- | --- | --- | --- | --- |'];

function section(title: string, variables: readonly Variable[]): string {
  return [`## ${title}`, '', ...head, ...variables.map(row)].join('\n');
}

export function renderSettings(): string {
  const groups = [...new Set(fixedVariables.filter(({ path }) => path.length > 1).map(({ path }) => path[0]))].sort();
  const shared = Object.entries(provider.shape).map(([field, schema]) => {
    const path = ['providers', '<name>', field];
    return { path, name: variableName(path), schema };
  });
  return `${[
    '# Settings',
    'Made by `npm run docs` from the schemas in `src/settings`.',
    'Settings come from environment variables and are read once, at the start. An empty variable is an unset one, an unknown one is ignored. Lists and objects are written as JSON. Whatever is wrong is reported at once, and the service does not start.',
    section(
      'Top level',
      fixedVariables.filter(({ path }) => path.length === 1),
    ),
    ...groups.map((group) =>
      section(
        String(group),
        fixedVariables.filter(({ path }) => path.length > 1 && path[0] === group),
      ),
    ),
    section('providers', shared),
  ].join('\n\n')}\n`;
}
