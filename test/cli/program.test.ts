/** The help, the examples and the shells' completion of every command. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { completionScript, shells } from '../../src/cli/completion.ts';
import { textWidth } from '../../src/cli/output.ts';
import { createProgram, everyCommand, examples, pathOf } from '../../src/cli/program.ts';
import { formatRows } from '../../src/importers/formats.ts';
import { temporaryFolder } from '../scope.ts';

function programOf(ran: string[] = []) {
  const note = async (name: unknown) => void ran.push(String(name));
  const program = createProgram({
    ...{ version: '1', helpWidth: 80, errorWidth: 80, formats: formatRows },
    serve: () => note('serve'),
    run: (_load, name) => note(name),
  });
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  for (const each of [program, ...everyCommand(program)]) each.configureOutput({ writeOut: write, writeErr: write });
  return { program, written };
}

const commands = everyCommand(programOf().program);

for (const help of ['-h', '--help'])
  test(`${help} of every command prints its usage in lines that fit`, async () => {
    for (const path of ['', ...commands.map(pathOf)]) {
      const { program, written } = programOf();
      const asked = program.parseAsync([...path.split(' ').filter(Boolean), help], { from: 'user' });
      await assert.rejects(asked, { code: 'commander.helpDisplayed', exitCode: 0 }, path);
      const text = written.join('');
      assert.ok(text.startsWith(`Usage: readback ${path}`.trim()), text);
      for (const line of text.split('\n')) assert.ok(textWidth(line) <= 80, `${path}: ${line}`);
    }
  });

test('every example is of a command, and is accepted by it', async () => {
  assert.deepEqual(
    Object.keys(examples).filter((path) => !commands.some((command) => pathOf(command) === path)),
    [],
  );
  for (const example of Object.values(examples).flat()) {
    const line = /readback ((?:'[^']*'|[^'|<>)])+)/.exec(example)?.[1] ?? assert.fail(example);
    const words = Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain);
    const ran: string[] = [];
    const { program, written } = programOf(ran);
    await program.parseAsync(words, { from: 'user' });
    assert.equal(ran.length + written.length, 1, example);
  }
});

test('`list` does what its group does, with the options of the group', async () => {
  for (const [words, name] of [
    [['watch'], 'watchesCommand'],
    [['watch', 'list'], 'watchesCommand'],
    [['topics', 'list'], 'topicsCommand'],
    [['names'], 'namesCommand'],
    [['names', 'list', 'watt'], 'namesCommand'],
    [['names', 'watt'], 'nameCommand'],
    [['token', 'list'], 'tokensCommand'],
    [['pages', 'list', '--status', 'dead'], 'pagesCommand'],
    [['jobs', 'list', '--status', 'dead'], 'jobsCommand'],
    [['delete', 'pg_00000001'], 'forgetCommand'],
  ] as const) {
    const ran: string[] = [];
    await programOf(ran).program.parseAsync([...words], { from: 'user' });
    assert.deepEqual(ran, [name], words.join(' '));
  }
});

test('bash completes commands, options and their values', (t) => {
  const script = join(temporaryFolder(t), 'readback.bash');
  writeFileSync(script, completionScript(programOf().program, 'bash'));
  const completed = (...words: string[]) => {
    const list = ['readback', ...words].map((word) => `'${word}'`).join(' ');
    const code = `source ${script}; COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _readback; echo "\${COMPREPLY[*]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', code], { encoding: 'utf8' });
    assert.equal(stderr, '');
    return stdout.trim();
  };
  for (const [words, expected] of [
    [['se'], 'serve search'],
    [['del'], 'delete'],
    [['watch', 'r'], 'remove run resume'],
    [['--json', 'watch', 'p'], 'pause'],
    [['watch', 'add', '--k'], '--kind'],
    [['watch', 'add', '--kind', ''], 'rss video podcast'],
    [['jobs', 'retry', '--status', 'de'], 'dead'],
    [['search', '--sort', 'o'], 'oldest'],
    [['token', 'add', 'x', '--sc'], '--scope'],
    [['completion', ''], 'bash zsh fish'],
    [['import', 'x'], ''],
  ] as const)
    assert.equal(completed(...words), expected, words.join(' '));
});

for (const shell of shells)
  test(`the completion of ${shell} knows every command and is valid`, (t) => {
    const script = completionScript(programOf().program, shell);
    for (const command of commands) assert.ok(script.includes(`' ${pathOf(command)}'`), pathOf(command));
    const file = join(temporaryFolder(t), 'completions');
    writeFileSync(file, script);
    const { error, status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    if (error !== undefined) t.skip(`${shell} is not installed`);
    else assert.deepEqual([status, stderr], [0, '']);
  });
