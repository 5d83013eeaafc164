// The made parts of docs/command-line.md: the formats of imports, and the help texts. A test compares the file with what this returns.
import { createProgram, everyCommand } from '../src/cli/program.ts';
import { importFormats } from '../src/domain/import.ts';
import { formatRows } from '../src/importers/formats.ts';

const commandLineMark = '<!-- below: made by scripts/generate-docs.ts from src/cli/program.ts -->';

const formatsMark = '<!-- the table: made by scripts/generate-docs.ts from src/importers/formats.ts -->\n';

function renderFormats(): string {
  const rows = importFormats.flatMap((format) => formatRows.filter((row) => row.format === format));
  const lines = rows.map(({ format, from, kind, sign }) => `| \`${format}\` | ${from} | ${kind}: ${sign} |`);
  return ['| `--format` | what it is | told by |', '|---|---|---|', ...lines].join('\n');
}

/** The page with its made parts anew: the table of formats, and what is below the mark. */
export function renderCommandLine(written: string): string {
  const [before = '', rest = ''] = written.slice(0, written.indexOf(commandLineMark)).split(formatsMark);
  const after = rest.slice(rest.indexOf('\n\n'));
  const head = `${before}${formatsMark}${renderFormats()}${after}`;
  const never = () => {
    throw new Error('no command is run here');
  };
  const actions = new Proxy({}, { get: () => never }) as Parameters<typeof createProgram>[0]['actions'];
  const program = createProgram({ version: '', actions, ended: never, helpWidth: 80, formats: formatRows });
  const texts = [program, ...everyCommand(program)].map((command) => {
    let text = '';
    command.configureOutput({
      writeOut: (part) => (text += part),
      getOutHelpWidth: () => 80,
      getOutHasColors: () => false,
    });
    if (command !== program) command.configureHelp({ ...command.configureHelp(), showGlobalOptions: false });
    command.outputHelp();
    const names = [];
    for (let each = command; each !== null; each = each.parent as typeof command) names.unshift(each.name());
    return `### ${names.join(' ')}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\``;
  });
  return `${head}${commandLineMark}\n\n## Every command\n\nThe options of \`readback\` itself hold for each.\n\n${texts.join('\n\n')}\n`;
}
