import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  ManagementProblem,
  TypesFailure,
} from '../../../content/template-types/management-connection.ts';
import { type CommandShell, print, printResult } from '../shell.ts';
import {
  chooseTemplates,
  openTemplates,
  readTemplateFolders,
  type TemplateOptions,
} from './run-template-command.ts';
import {
  type FolderTemplate,
  hashTemplate,
  imageFile,
  readTemplateFolder,
  settingsFile,
  type TemplateCode,
  TemplateState,
  templateFiles,
} from './template-folder.ts';
import type { ServiceTemplate, TemplateService } from './template-service.ts';

interface PlannedPush {
  readonly local: FolderTemplate;
  readonly hash: string;
  readonly remote: ServiceTemplate | undefined;
}

const pullFirst =
  'it was changed on the service since your last pull. Run `signalpost template pull`, merge, and push again, or overwrite it with --force';

/**
 * `template push`: saves the templates of a folder as drafts, or publishes them. Templates that are already up to
 * date aren't touched, and nothing is changed if one has changed on the service since the last pull.
 * @returns the exit code: 0, or 1 for conflicts
 */
async function pushTemplates(
  shell: CommandShell,
  ids: readonly string[],
  options: TemplateOptions,
): Promise<number> {
  if (options.react !== undefined) {
    const { compileReactTemplates } = await import('./react-templates.ts');
    await compileReactTemplates(options.react, options.dir);
  }
  const templates = await readTemplateFolders(ids, options.dir);
  const { service, state } = await openTemplates(options, shell);
  const planned: PlannedPush[] = [];
  const conflicts: string[] = [];
  for (const local of templates) {
    const plan = { local, hash: hashTemplate(local.code), remote: await service.read(local.id) };
    planned.push(plan);
    if (options.force !== true && (await isUnseen(plan, service, state, options)))
      conflicts.push(local.id);
  }
  for (const id of conflicts) shell.err(`${id}: ${pullFirst}\n`);
  if (conflicts.length > 0) {
    shell.err('Nothing was pushed.\n');
    return 1;
  }
  let code = 0;
  for (const plan of planned) if (!(await pushOne(plan, service, state, options, shell))) code = 1;
  return code;
}

/** Content that is neither the folder's, nor what was seen last, nor what `--base` has. */
async function isUnseen(
  { local: { id }, hash, remote }: PlannedPush,
  service: TemplateService,
  state: TemplateState,
  { base }: TemplateOptions,
): Promise<boolean> {
  if (remote?.code === undefined) return false;
  const current = hashTemplate(remote.code);
  if (current === hash || current === state.seen(id)) return false;
  if (base === undefined) return true;
  if (current === (await TemplateState.open(base, service.place)).seen(id)) return false;
  const earlier = await readTemplateFolder(base, id);
  return earlier === undefined || hashTemplate(earlier.code) !== current;
}

/** Pushes a template and prints the result. @returns false if it failed */
async function pushOne(
  { local, hash, remote }: PlannedPush,
  service: TemplateService,
  state: TemplateState,
  { publish = false, allowBreaking = false }: TemplateOptions,
  shell: CommandShell,
): Promise<boolean> {
  const { id } = local;
  const say = (result: string): boolean => {
    printResult(shell, `${id}: ${result}`, { id, result });
    return true;
  };
  const isSame = remote?.code !== undefined && hashTemplate(remote.code) === hash;
  const isDraft = remote?.hasDraft === true || remote?.publishedVersion === null;
  if (isSame && !(publish && isDraft)) {
    await state.remember(id, hash);
    return say(`unchanged (${originOf(remote)})`);
  }
  try {
    const etag = isSame ? remote.draftEtag : await service.save(local, remote);
    const version = remote?.publishedVersion ?? null;
    // A publication between reading and saving removes the draft that it came from, so the tag of a draft can't show it.
    if ((await service.publishedVersion(id)) !== version) {
      await service.discardDraft(id, etag);
      shell.err(`${id}: ${pullFirst}\n`);
      return false;
    }
    await state.remember(id, hash);
    if (!publish) return say('saved as draft');
    const published = await service.publish(id, etag, allowBreaking);
    for (const note of published.notes) shell.err(`${id}: ${note}\n`);
    return say(`published as version ${published.version}`);
  } catch (error) {
    if (!(error instanceof ManagementProblem)) throw error;
    shell.err(`${id}: ${describe(error)}\n`);
    return false;
  }
}

function describe({ status, code, message }: ManagementProblem): string {
  if (status === 412) return pullFirst;
  if (code === 'breaks-callers')
    return `${message}. The draft is saved. Publish it anyway with --allow-breaking`;
  if (message.includes('createdBy'))
    return `${message}. Add createdBy to its template.yaml: the email of a user of the account`;
  return message;
}

/**
 * `template pull`: writes the templates of an account into a folder, drafts included.
 * @returns the exit code: 0, or 1 if a template has local changes that nobody pushed
 */
async function pullTemplates(
  shell: CommandShell,
  ids: readonly string[],
  options: TemplateOptions,
): Promise<number> {
  await mkdir(options.dir, { recursive: true });
  const { service, state } = await openTemplates(options, shell);
  let code = 0;
  for (const id of chooseTemplates(ids, await service.ids(), 'The account')) {
    const remote = await service.read(id);
    if (remote?.code === undefined) {
      shell.err(`${id}: skipped, because it has no content yet\n`);
      continue;
    }
    const hash = hashTemplate(remote.code);
    const local = await readLocalHash(options, id);
    const isChanged = local !== undefined && local !== hash && local !== state.seen(id);
    if (isChanged && options.force !== true) {
      shell.err(
        `${id}: the folder has changes of its own. Commit them, pull with --force, and merge with git\n`,
      );
      code = 1;
      continue;
    }
    if (local !== hash) await writeTemplate(service, join(options.dir, id), id, remote.code);
    await state.remember(id, hash);
    const from = originOf(remote);
    const result = local === hash ? 'up to date' : 'pulled';
    printResult(shell, `${id}: ${result} (${from})`, { id, result, from });
  }
  return code;
}

/** Where the content of a template comes from. */
function originOf({ hasDraft, publishedVersion }: ServiceTemplate): string {
  return hasDraft ? 'draft' : `version ${publishedVersion}`;
}

/** A folder that can't be read counts as changed. */
async function readLocalHash({ dir }: TemplateOptions, id: string): Promise<string | undefined> {
  try {
    const local = await readTemplateFolder(dir, id);
    return local && hashTemplate(local.code);
  } catch {
    return 'unreadable';
  }
}

/** A part of a template, in one of its languages. */
const partFile = /^body\.(?:[A-Za-z0-9-]{1,100}\.)?(?:html|mjml|txt)$/;

async function writeTemplate(
  service: TemplateService,
  folder: string,
  id: string,
  code: TemplateCode,
): Promise<void> {
  const images = code.images ?? [];
  // Everything is read before anything is written.
  const contents: Uint8Array[] = [];
  for (const { sha256 } of images) contents.push(await service.image(id, sha256));
  const files = templateFiles(code);
  for (const name of files.keys())
    if (name !== settingsFile && !partFile.test(name))
      throw new TypesFailure(`Template ${id} has a language that can’t be a file: ${name}`);
  await mkdir(folder, { recursive: true });
  for (const [index, content] of contents.entries()) {
    const path = join(folder, imageFile(images[index] ?? { filename: '' }, index));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  for (const name of await readdir(folder))
    if (partFile.test(name) && !files.has(name)) await rm(join(folder, name));
  for (const [name, text] of files) await writeFile(join(folder, name), text);
}

/** Lines shown around a change. */
const contextLines = 2;

/**
 * `template diff`: prints what a push would change, without changing anything.
 * @returns the exit code: 0, or with `exitCode` 1 if there are changes
 */
async function diffTemplates(
  shell: CommandShell,
  ids: readonly string[],
  options: TemplateOptions,
): Promise<number> {
  const templates = await readTemplateFolders(ids, options.dir);
  const { service } = await openTemplates(options, shell);
  let changed = 0;
  for (const { id, code } of templates) {
    const remote = await service.read(id);
    if (remote?.code !== undefined && hashTemplate(remote.code) === hashTemplate(code)) continue;
    changed += 1;
    const from = remote?.code === undefined ? 'new' : originOf(remote);
    const diff = diffFiles(id, filesOf(remote?.code), filesOf(code));
    printResult(shell, `${id} (${from})\n${diff.trimEnd()}`, { id, from, diff });
  }
  const all = templates.length;
  if (shell.json !== true)
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

export const templateCommands = { pull: pullTemplates, push: pushTemplates, diff: diffTemplates };
