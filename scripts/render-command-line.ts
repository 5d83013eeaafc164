// The help texts in docs/command-line.md, from the program's definition. A test compares the file with what this returns.
import { createProgram, everyCommand } from '../src/cli/program.ts';

const commandLineMark = '<!-- below: made by scripts/generate-docs.ts from src/cli/program.ts -->';

/** The page with its part below the mark made anew. */
export function renderCommandLine(written: string): string {
  const head = written.slice(0, written.indexOf(commandLineMark));
  const never = () => {
    throw new Error('no command is run here');
  };
  const actions = new Proxy({}, { get: () => never }) as Parameters<typeof createProgram>[0]['actions'];
  const program = createProgram({ version: '', actions, ended: never });
  const texts = [program, ...everyCommand(program)].map((command) => {
    let text = '';
    command.configureOutput({
      writeOut: (part) => (text += part),
      getOutHelpWidth: () => 100,
      getOutHasColors: () => false,
    });
    command.outputHelp();
    const names = [];
    for (let each = command; each !== null; each = each.parent as typeof command) names.unshift(each.name());
    return `### ${names.join(' ')}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\``;
  });
  return `${head}${commandLineMark}\n\n## Every command\n\n${texts.join('\n\n')}\n`;
}
