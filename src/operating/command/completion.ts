import type { Command } from 'commander';
import { OperatorError } from '../../base/values/errors.ts';
import { type CommandShell, print } from './shell.ts';

/** What can follow some words: subcommands and options. */
interface Completions {
  /** The words of the command, such as `key create`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly string[];
}

/**
 * `completion SHELL`: prints a script that completes commands and options. It contains all of them, so that completing doesn't
 * start a process.
 * @throws OperatorError for an unknown shell
 */
export async function printCompletion(
  program: Command,
  shell: CommandShell,
  name: string,
): Promise<void> {
  const write = scripts[name];
  if (write === undefined)
    throw new OperatorError(`"${name}" is not one of ${Object.keys(scripts).join(', ')}.`);
  print(shell, write(completionsOf(program, [])));
}

function completionsOf(command: Command, path: readonly string[]): Completions[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command).map((part) => part.name());
  const options = help.visibleOptions(command).flatMap(({ long }) => (long == null ? [] : [long]));
  return [
    { path: path.join(' '), words: [...subcommands, ...options] },
    ...command.commands.flatMap((part) => completionsOf(part, [...path, part.name()])),
  ];
}

const scripts: Readonly<Record<string, (all: readonly Completions[]) => string>> = {
  bash: (all) => `_signalpost() {
${caseScript(all, '    ')}
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _signalpost signalpost`,
  zsh: (all) => `#compdef signalpost
autoload -U +X bashcompinit && bashcompinit
${scripts.bash?.(all) ?? ''}`,
  fish: (all) =>
    [
      'complete -c signalpost -e',
      ...all.flatMap(({ path, words }) => {
        const when = fishCondition(path, all);
        return words.map((word) =>
          word.startsWith('--')
            ? `complete -c signalpost -n '${when}' -l ${word.slice(2)}`
            : `complete -c signalpost -f -n '${when}' -a ${word}`,
        );
      }),
    ].join('\n'),
};

/** Finds the command among the words before the cursor, and sets \`words\`. */
function caseScript(all: readonly Completions[], indent: string): string {
  const byPath = all.map(({ path, words }) => `${indent}'${path}') words='${words.join(' ')}' ;;`);
  const paths = all.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  return `  local word path= words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
${indent}${paths.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${byPath.join('\n')}
  esac`;
}

function fishCondition(path: string, all: readonly Completions[]): string {
  const names = path.split(' ').filter((name) => name !== '');
  const next = all
    .map((other) => other.path)
    .filter((other) => other !== '' && other.split(' ').length === names.length + 1)
    .filter((other) => path === '' || other.startsWith(`${path} `))
    .map((other) => other.split(' ').at(-1));
  const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
  const notYet = next.length === 0 ? [] : [`not __fish_seen_subcommand_from ${next.join(' ')}`];
  return [...seen, ...notYet].join('; and ') || 'true';
}
