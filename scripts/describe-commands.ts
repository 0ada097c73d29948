import type { Command } from 'commander';
import { createProgram } from '../src/operating/command/run-command.ts';
import type { CommandShell } from '../src/operating/command/shell.ts';

const noShell: CommandShell = {
  environment: {},
  exitCode: 0,
  in: process.stdin,
  out: () => undefined,
  err: () => undefined,
};

/** The body of docs/reference/cli.md, from the definitions of the commands. */
export async function describeCommands(): Promise<string> {
  const program = await createProgram(noShell);
  const sections = program.commands.map((command) => {
    if (command.commands.length === 0) return `## ${command.name()}\n\n${describeCommand(command)}`;
    const parts = command.commands.map(
      (part) => `### ${command.name()} ${part.name()}\n\n${describeCommand(part)}`,
    );
    return [`## ${command.name()}`, sentence(command.description()), ...parts].join('\n\n');
  });
  const overview = program.commands.map(
    (command) =>
      `| [\`${command.name()}\`](#${command.name()}) | ${escapeCell(sentence(command.description()))} |`,
  );
  return [
    ['| command | what it does |', '| --- | --- |', ...overview].join('\n'),
    ...sections,
  ].join('\n\n');
}

function describeCommand(command: Command): string {
  const help = command.createHelp();
  const usage = help
    .commandUsage(command)
    .replace(/^signalpost/, 'bin/signalpost')
    .replaceAll(' [options]', '');
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help');
  const rows = [
    ...help
      .visibleArguments(command)
      .map((argument) => [help.argumentTerm(argument), help.argumentDescription(argument)]),
    ...options.map((option) => [
      help.optionTerm(option),
      `${option.mandatory ? '*Required.* ' : ''}${help.optionDescription(option)}`,
    ]),
  ].map(
    ([term = '', description = '']) =>
      `| \`${term.replaceAll('|', '\\|')}\` | ${escapeCell(description)} |`,
  );
  const withOptions = options.length > 0 ? ' [options]' : '';
  return [
    `\`${usage}${withOptions}\``,
    sentence(command.description()),
    ...(rows.length > 0 ? [['| argument | meaning |', '| --- | --- |', ...rows].join('\n')] : []),
  ].join('\n\n');
}

/** Capitalizes a help text and adds a period. */
function sentence(text: string): string {
  const stop = /[.!?]$/.test(text) ? '' : '.';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${stop}`;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<');
}
