/**
 * Every regular expression of `src`, and texts that are hard for it. Literals are taken from the syntax tree; those that are put together
 * at run time are caught while their modules load.
 */
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Node } from 'typescript/unstable/ast';
import { isIdentifier, isNewExpression, isRegularExpressionLiteral } from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

const root = join(import.meta.dirname, '../..');

export interface SourceExpression {
  /** Below `src`. */
  file: string;
  pattern: RegExp;
}

export interface SourceExpressions {
  literals: SourceExpression[];
  /** Files below `src` with `new RegExp`, each as often as it says so. */
  constructed: string[];
}

/** What the sources say, each pattern of a file once. */
export function readSourceExpressions(): SourceExpressions {
  const api = new API({ cwd: root });
  try {
    const snapshot = api.updateSnapshot({ openProject: join(root, 'tsconfig.json') });
    const [project] = snapshot.getProjects();
    const literals = new Map<string, SourceExpression>();
    const constructed: string[] = [];
    for (const path of project.rootFiles) {
      const file = relative(join(root, 'src'), path);
      if (file.startsWith('..')) continue;
      const visit = (node: Node): void => {
        if (isRegularExpressionLiteral(node)) {
          literals.set(`${file} ${node.text}`, { file, pattern: literalOf(node.text) });
        } else if (isNewExpression(node) && isIdentifier(node.expression) && node.expression.text === 'RegExp') {
          constructed.push(file);
        }
        node.forEachChild(visit);
      };
      project.program.getSourceFile(path)?.forEachChild(visit);
    }
    return { literals: [...literals.values()], constructed };
  } finally {
    api.close();
  }
}

function literalOf(text: string): RegExp {
  const end = text.lastIndexOf('/');
  return new RegExp(text.slice(1, end), text.slice(end + 1));
}

/** The expressions that modules put together while they are loaded. They must not have been imported before. */
export async function constructedOnLoad(files: readonly string[]): Promise<SourceExpression[]> {
  const found: SourceExpression[] = [];
  const real = globalThis.RegExp;
  globalThis.RegExp = new Proxy(real, {
    construct(target, given, newTarget) {
      const pattern: RegExp = Reflect.construct(target, given, newTarget);
      const caller = new Error('').stack?.split('\n')[2] ?? '';
      const file = files.find((each) => caller.includes(`/src/${each}`));
      if (file !== undefined) found.push({ file, pattern });
      return pattern;
    },
  });
  try {
    for (const file of files) await import(pathToFileURL(join(root, 'src', file)).href);
  } finally {
    globalThis.RegExp = real;
  }
  return found;
}

/** A text of about this length, its middle repeated. */
export type HardText = (length: number) => string;

/** Characters that classes of expressions are made of, and pairs that two classes side by side disagree on. */
const anyPumps = [
  ...' \t\n\0aA0._,;:/\\@#-<>"\'=&|!?*`([{é漢',
  ...['a ', '0 ', 'a.', 'a@', '0a', 'aaa\n', '/\0', '00\0', ' \n', '- ', '<a ', '="', '\t#', '. '],
];
const ends = ['', '\n', '\0x>'];

/**
 * Texts of any length that are hard for an expression which backtracks: something that it can repeat, behind nothing or
 * behind words that it asks for, and at last something that it does not want.
 */
export function* hardTexts({ source }: RegExp): Generator<HardText> {
  const words = [
    ...new Set(source.replace(/\\[a-zA-Z](?:\{[^}]*\})?/g, ' ').match(/[\p{L}\p{N}<>!/@=:"'_&#-]+/gu) ?? []),
  ];
  const starts = new Set(['', words[0] ?? '', words.slice(0, 2).join('')]);
  const pumps = new Set([...anyPumps, ...words.slice(0, 12), ...words.slice(0, 4).map((word) => `${word} `)]);
  for (const start of starts) {
    for (const pump of pumps) {
      for (const end of ends) yield (length) => start + pump.repeat(Math.ceil(length / pump.length)) + end;
    }
  }
}
