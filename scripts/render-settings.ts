// docs/settings.md from the settings' schema. A test compares the file with what this returns.
import { z } from 'zod';
import { fixedVariables, type Variable, variableName } from '../src/settings/read-settings.ts';
import { metaOf, provider, ruleOf } from '../src/settings/schema.ts';

function defaultOf(schema: z.ZodType): string {
  const { defaultText } = metaOf(schema);
  if (defaultText !== undefined) return defaultText;
  const value: unknown = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
  return value === null ? 'none' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** What a setting accepts, as short as it goes; nothing where the default shows it. */
function accepted(schema: z.ZodType): string {
  const rule = ruleOf(schema);
  if (rule === 'true or false' || rule === 'a text') return '';
  return rule
    .replace('a whole number', 'integer')
    .replace('a number', 'number')
    .replace(', at least ', ' ≥')
    .replace(', at most ', ' ≤')
    .replace(', above ', ' >');
}

function row({ path, schema }: Pick<Variable, 'path' | 'schema'>): string {
  const { description } = metaOf(schema);
  return `| ${[`\`${path.join('.')}\``, defaultOf(schema), accepted(schema), description].map(cell).join(' | ')} |`;
}

function table(variables: readonly Pick<Variable, 'path' | 'schema'>[]): string {
  return ['| Setting | Default | Accepts | Meaning |', '|---|---|---|---|', ...variables.map(row)].join('\n');
}

export function renderSettings(): string {
  const inGroups = fixedVariables.filter(({ path }) => path.length > 1);
  const shared = Object.entries(provider.shape).map(([field, schema]) => ({
    path: ['providers', '<name>', field],
    schema,
  }));
  const groups = [...inGroups, ...shared].sort((a, b) => (`${a.path[0]}` < `${b.path[0]}` ? -1 : 1));
  return `${[
    '# Settings',
    'Made by `npm run docs` from the schemas in `src/settings`.',
    `Settings come from environment variables, which the service reads once, when it starts. The variable is \`SERVICE_\` and the name in capitals, with \`__\` for each dot: \`jobs.max_attempts\` is \`${variableName(['jobs', 'max_attempts'])}\`. An empty variable counts as unset. An unknown one is ignored, with a warning. Write lists and objects as JSON. The service reports every invalid setting and does not start.`,
    '## Top level',
    table(fixedVariables.filter(({ path }) => path.length === 1)),
    '## Groups',
    table(groups),
  ].join('\n\n')}\n`;
}
