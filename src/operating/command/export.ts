import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'yaml';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { AccountId, ListId } from '../../base/values/ids.ts';
import { writeContactFile } from '../../content/list/contact-file.ts';
import { exportManifest, noFiles } from '../manifest/export-manifest.ts';
import {
  readAccountIds,
  readContentBytes,
  readUnpublishedTemplates,
} from '../manifest/read-manifest-store.ts';
import { onInstallation } from './open-running.ts';
import type { CommandShell } from './shell.ts';

/**
 * `export [FOLDER]`: writes the manifest of the installation to standard output; with a folder, to `manifest.yaml`
 * there, with a CSV file of the contacts of each list and the images of templates. Unpublished templates are skipped and named on standard error.
 * @throws OperatorError if the folder can't be written, or the installation can't be reached
 */
export const exportCommand = onInstallation(
  (folder: string | undefined) =>
    ({ shell, database }) =>
      inSnapshot(database, async (kysely) => {
        if (folder === undefined) shell.out(await writeYaml(kysely, noFiles));
        else await exportTo(kysely, folder);
        await reportSkippedTemplates(kysely, shell);
      }),
);

/** Reads everything from one snapshot, so that the manifest and the contacts of its lists are consistent. */
function inSnapshot(
  { kysely }: Database,
  read: (transaction: Kysely) => Promise<void>,
): Promise<void> {
  return kysely
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(read);
}

async function writeYaml(
  kysely: Kysely,
  names: Parameters<typeof exportManifest>[1],
): Promise<string> {
  const manifest = await exportManifest(kysely, names);
  return `# Passwords, client secrets and URLs of outbox sources are not part of this file.\n${stringify(manifest, { lineWidth: 0 })}`;
}

async function reportSkippedTemplates(kysely: Kysely, shell: CommandShell): Promise<void> {
  for (const accountId of await readAccountIds(kysely))
    for (const id of await readUnpublishedTemplates(kysely, accountId))
      shell.err(`Skipped: template ${id} of account ${accountId} has no published version.\n`);
}

async function exportTo(kysely: Kysely, folder: string): Promise<void> {
  const files = new Map<string, readonly [AccountId, ListId]>();
  const images = new Map<string, readonly [AccountId, string]>();
  const text = await writeYaml(kysely, {
    contacts(accountId, listId) {
      const file = `lists/${accountId}-${listId}.csv`;
      files.set(file, [accountId, listId as ListId]);
      return file;
    },
    image({ accountId, templateId }, { filename, sha256 }, number) {
      const file = `images/${accountId}-${templateId}-${number}${extname(filename)}`;
      images.set(file, [accountId, sha256]);
      return file;
    },
  });
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'manifest.yaml'), text);
    for (const [file, [accountId, listId]] of files) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true });
      await pipeline(
        await writeContactFile(kysely, { accountId, listId }),
        createWriteStream(path, { mode: 0o600 }),
      );
    }
    for (const [file, [accountId, sha256]] of images) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, await readContentBytes(kysely, accountId, sha256));
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new OperatorError(`Can't write to the folder ${folder}: ${reason}.`, { cause });
  }
}
