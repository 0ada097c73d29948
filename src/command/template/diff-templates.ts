import { type CommandShell, print, printResult } from '../shell.ts';
import {
  openTemplates,
  readTemplateFolders,
  type TemplateOptions,
} from './run-template-command.ts';
import { hashTemplate, imageFile, type TemplateCode, templateFiles } from './template-files.ts';

/** Lines shown around a change. */
const contextLines = 2;

/**
 * `template diff`: prints what a push would change, without changing anything.
 * @returns the exit code: 0, or with `exitCode` 1 if there are changes
 */
export async function diffTemplates(
  ids: readonly string[],
  options: TemplateOptions,
  shell: CommandShell,
): Promise<number> {
  const templates = await readTemplateFolders(ids, options.dir);
  const { service } = await openTemplates(options, shell);
  let changed = 0;
  for (const { id, code } of templates) {
    const remote = await service.read(id);
    if (remote?.code !== undefined && hashTemplate(remote.code) === hashTemplate(code)) continue;
    changed += 1;
    const from =
      remote?.code === undefined
        ? 'new'
        : remote.hasDraft
          ? 'draft'
          : `version ${remote.publishedVersion}`;
    const diff = diffFiles(id, filesOf(remote?.code), filesOf(code));
    printResult(shell, options, `${id} (${from})\n${diff.trimEnd()}`, { id, from, diff });
  }
  const all = templates.length;
  if (options.json !== true)
    print(shell, `${changed} of ${all} template${all === 1 ? '' : 's'} would change.`);
  return options.exitCode === true && changed > 0 ? 1 : 0;
}

function filesOf(code: TemplateCode | undefined): Map<string, string> {
  if (code === undefined) return new Map();
  const files = templateFiles(code);
  for (const [index, image] of (code.images ?? []).entries())
    files.set(imageFile(image, index), `${image.size} bytes, SHA-256 ${image.sha256}\n`);
  return files;
}

function diffFiles(
  id: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .map(
      (name) =>
        `  ${id}/${name}\n${diffLines(linesOf(before.get(name)), linesOf(after.get(name)))}`,
    )
    .join('');
}

function linesOf(text: string | undefined): string[] {
  return text === undefined ? [] : text.replace(/\n$/, '').split('\n');
}

/** The lines from the first to the last change: linear in their number, unlike the shortest difference. */
function diffLines(before: readonly string[], after: readonly string[]): string {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const shown = (mark: string, lines: readonly string[]): string =>
    lines.map((line) => `  ${mark} ${visible(line)}\n`).join('');
  return [
    shown(' ', after.slice(Math.max(0, start - contextLines), start)),
    shown('-', before.slice(start, before.length - end)),
    shown('+', after.slice(start, after.length - end)),
    shown(' ', after.slice(after.length - end, after.length - end + contextLines)),
  ].join('');
}

/** Content must not control the terminal of a reviewer, nor hide itself there. */
function visible(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\t' ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
