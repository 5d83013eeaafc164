// The made parts of docs/command-line.md: the formats of imports, and the help texts. A test compares the file with what this returns.
import type { Argument, Command } from 'commander';
import { exitMeanings } from '../src/cli/output.ts';
import { createProgram, everyCommand } from '../src/cli/program.ts';
import { importFormats } from '../src/domain/import.ts';
import { operatorHelp } from '../src/domain/query-clause.ts';
import { formatRows } from '../src/importers/formats.ts';

const commandLineMark = '<!-- below: made by scripts/generate-docs.ts from src/cli/program.ts -->';

const markOf = (file: string) => `<!-- the table: made by scripts/generate-docs.ts from ${file} -->\n`;

function renderOperators(): string {
  const lines = operatorHelp.map(({ operator, finds, example }) => `| \`${operator}\` | ${finds} | \`${example}\` |`);
  return ['| operator | finds | example |', '|---|---|---|', ...lines].join('\n');
}

function renderFormats(): string {
  const rows = importFormats.flatMap((format) => formatRows.filter((row) => row.format === format));
  const lines = rows.map(({ format, from }) => `| \`${format}\` | ${from} |`);
  return ['| `--format` | what it is |', '|---|---|', ...lines].join('\n');
}

function withTable(page: string, file: string, table: string): string {
  const [before = '', rest = ''] = page.split(markOf(file));
  return `${before}${markOf(file)}${table}${rest.slice(rest.indexOf('\n\n'))}`;
}

/** The page with its generated parts: the tables, and what is below the mark. */
export function renderCommandLine(written: string): string {
  const page = written.slice(0, written.indexOf(commandLineMark));
  const withFormats = withTable(page, 'src/importers/formats.ts', renderFormats());
  const head = withTable(withFormats, 'src/domain/query-clause.ts', renderOperators());
  const never = () => {
    throw new Error('no command is run here');
  };
  const program = createProgram({ version: '', serve: never, run: never, helpWidth: 80, formats: formatRows });
  const texts = everyCommand(program).map((command) => {
    const help = command.createHelp();
    help.helpWidth = 100;
    const names: string[] = [];
    for (let each: Command = command; each.parent !== null; each = each.parent) names.unshift(each.name());
    const pairs = [
      ...help.visibleArguments(command).map((each) => [each.name(), help.argumentDescription(each)]),
      ...help
        .visibleOptions(command)
        .filter(({ long }) => long !== '--help')
        .map((each) => [each.flags, help.optionDescription(each)]),
    ].filter(([, text]) => text !== '');
    const width = Math.max(0, ...pairs.map(([name]) => name.length));
    return [
      ['readback', ...names, ...command.registeredArguments.map(argumentText)].join(' '),
      ...help
        .boxWrap(help.commandDescription(command), 96)
        .split('\n')
        .map((line) => `  ${line}`),
      ...pairs.map(([name, text]) => `    ${help.formatItem(name, width, text, help)}`),
    ].join('\n');
  });
  const globals = program.createHelp();
  const options = globals
    .visibleOptions(program)
    .map((each) => `- \`${each.flags}\`: ${globals.optionDescription(each)}`);
  const codes = exitMeanings.map(([code, meaning]) => `- ${code}: ${meaning}`);
  return `${head}${commandLineMark}

## Every command

\`\`\`text
${texts.join('\n\n')}
\`\`\`

Options for every command:

${options.join('\n')}

## Exit codes

${codes.join('\n')}
`;
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}
