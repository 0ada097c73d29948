import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TypesFailure } from '../../template-types/management-connection.ts';
import { type CommandShell, printResult } from '../shell.ts';
import { readTemplateFolder } from './read-template-folder.ts';
import { chooseTemplates, openTemplates, type TemplateOptions } from './run-template-command.ts';
import {
  hashTemplate,
  imageFile,
  settingsFile,
  type TemplateCode,
  templateFiles,
} from './template-files.ts';
import type { TemplateService } from './template-service.ts';

/**
 * `template pull`: writes the templates of an account into a folder, drafts included.
 * @returns the exit code: 0, or 1 if a template has local changes that nobody pushed
 */
export async function pullTemplates(
  ids: readonly string[],
  options: TemplateOptions,
  shell: CommandShell,
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
    const from = remote.hasDraft ? 'draft' : `version ${remote.publishedVersion}`;
    const result = local === hash ? 'up to date' : 'pulled';
    printResult(shell, options, `${id}: ${result} (${from})`, { id, result, from });
  }
  return code;
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
