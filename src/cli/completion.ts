/** Completion scripts for shells, generated from the commands and options of the program. */
import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

interface Word {
  text: string;
  description: string;
}

/** A place in the command line: after the words of a command, without aliases. */
interface Place {
  /** ` watch add`; empty for the program. */
  at: string;
  /** Subcommands, and choices of an argument. */
  words: Word[];
  /** Includes the options of groups and of the program. */
  options: readonly Option[];
}

function placesOf(command: Command, at = '', outer: readonly Option[] = []): Place[] {
  const help = command.createHelp();
  const isOuter = ({ long }: Option) => outer.some((each) => each.long === long);
  const options = [...outer, ...help.visibleOptions(command).filter((option) => !isOuter(option))];
  const words = help
    .visibleCommands(command)
    .flatMap((each) => [each.name(), ...each.aliases()].map((text) => ({ text, description: each.description() })));
  const choices = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((text) => ({ text, description })),
  );
  const inner = command.commands.flatMap((each) =>
    [each.name(), ...each.aliases()].flatMap((name) => placesOf(each, `${at} ${name}`, options)),
  );
  return [{ at, words: [...words, ...choices], options }, ...inner];
}

const namesOf = ({ short, long }: Option): string[] => [short, long].flatMap((name) => name ?? []);
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const quotedForFish = (text: string): string => `'${text.replace(/['\\]/g, String.raw`\$&`)}'`;

/** Finds the place from the preceding words, then completes its words or options, or the values of the last option. */
function bash(places: readonly Place[]): string {
  const list = (words: readonly string[]) => quoted(words.join(' '));
  const found = places.slice(1).map(({ at }) => quoted(at));
  const ofPlaces = places.map(
    ({ at, words, options }) =>
      `    ${quoted(at)}) choices=${list(words.map(({ text }) => text))} flags=${list(options.flatMap(namesOf))} ;;`,
  );
  const ofValues = places.flatMap(({ at, options }) =>
    options.flatMap((option) => {
      if (option.argChoices === undefined) return [];
      const patterns = namesOf(option).map((name) => quoted(`${at} ${name}`));
      return [`    ${patterns.join('|')}) choices=${list(option.argChoices)} ;;`];
    }),
  );
  return `_readback() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" at= each choices= flags=
  for each in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$at $each" in ${found.join('|')}) at="$at $each" ;; esac
  done
  case "$at" in
${ofPlaces.join('\n')}
  esac
  case "$at $before" in
${ofValues.join('\n')}
  esac
  [[ $word == -* ]] && choices=$flags
  COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
complete -o default -F _readback readback
`;
}

/** Zsh reads the completions of bash. */
const zsh = (places: readonly Place[]): string => `autoload -U +X bashcompinit && bashcompinit\n${bash(places)}`;

function fish(places: readonly Place[]): string {
  const [{ options: everywhere }] = places;
  const flags = (option: Option) =>
    namesOf(option).map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const valuesOf = ({ argChoices, required }: Option) =>
    argChoices !== undefined ? [`-x -a ${quotedForFish(argChoices.join(' '))}`] : required ? ['-r'] : [];
  const line = (...parts: string[]) => ['complete -c readback', ...parts].join(' ');
  const ofOption = (option: Option, ...where: string[]) =>
    line(...where, ...flags(option), ...valuesOf(option), `-d ${quotedForFish(option.description)}`);
  const lines = places.flatMap(({ at, words, options }) => {
    const where = `-n "__readback_at ${quotedForFish(at)}"`;
    return [
      ...(words.length === 0 ? [] : [line(where, '-f')]),
      ...words.map(({ text, description }) => line(where, `-a ${text}`, `-d ${quotedForFish(description)}`)),
      ...options.filter((each) => !everywhere.includes(each)).map((each) => ofOption(each, where)),
    ];
  });
  return `function __readback_at
    set -l at ''
    set -l before (commandline -opc)
    set -e before[1]
    for each in $before
        switch "$at $each"
            case ${places
              .slice(1)
              .map(({ at }) => quotedForFish(at))
              .join(' ')}
                set at "$at $each"
        end
    end
    test "$at" = "$argv"
end
${[...everywhere.map((option) => ofOption(option)), ...lines].join('\n')}
`;
}

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = { bash, zsh, fish };

export function completionScript(program: Command, shell: Shell): string {
  return scripts[shell](placesOf(program));
}
