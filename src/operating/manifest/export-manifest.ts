import { Clean } from 'typebox/value';
import { pickSettings } from '../../accounts/account/account-settings.ts';
import { readAccount } from '../../accounts/account/account-store.ts';
import { readIntegrations } from '../../accounts/oauth/integration-store.ts';
import { readSenders } from '../../accounts/sender/sender-store.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { readLists } from '../../content/list/list-store.ts';
import type { TemplateImage } from '../../content/template/template-source.ts';
import { listSources } from '../../outbox/source/outbox-source-store.ts';
import {
  OutboxSourceSchema,
  type RawAccount,
  type RawImage,
  type RawIntegration,
  type RawList,
  type RawManifest,
  type RawOutboxSource,
  type RawSender,
  type RawTemplate,
  type RawUser,
} from './manifest-schema.ts';
import { mapTexts } from './map-texts.ts';
import {
  readAccountIds,
  readContentBytes,
  readPublishedContents,
  readUsers,
} from './read-manifest-store.ts';

/** Names the CSV file for a list's contacts; undefined: contacts aren't exported. */
type NameContactFile = (accountId: AccountId, listId: string) => string | undefined;

/** Where to write an image; undefined: into the manifest. @param number of the image in its template, from 1 */
type NameImageFile = (
  owner: { readonly accountId: AccountId; readonly templateId: string },
  image: TemplateImage,
  number: number,
) => string | undefined;

interface FileNames {
  readonly contacts: NameContactFile;
  readonly image: NameImageFile;
}

/** Everything is in the manifest itself, except for contacts, which aren't exported. */
export const noFiles: FileNames = { contacts: () => undefined, image: () => undefined };

/**
 * Exports the installation as a manifest, without secrets. Applying it to another installation needs passwords, client secrets and
 * the URLs of outbox sources.
 */
export async function exportManifest(kysely: Kysely, files: FileNames): Promise<RawManifest> {
  const accounts: RawAccount[] = [];
  for (const accountId of await readAccountIds(kysely)) {
    const account = await exportAccount(kysely, accountId, files);
    if (account !== undefined) accounts.push(account);
  }
  // Text that looks like an environment variable reference is escaped.
  return mapTexts({ accounts }, (text) => text.replaceAll(`\${`, () => `$\${`)) as RawManifest;
}

async function exportAccount(
  kysely: Kysely,
  accountId: AccountId,
  files: FileNames,
): Promise<RawAccount | undefined> {
  const account = await readAccount(kysely, accountId);
  if (account === undefined) return undefined;
  const { id, name, suspended, retentionDays, quota, policy } = account;
  return {
    id,
    name,
    addOns: [...account.addOns].sort() as RawAccount['addOns'] & string[],
    suspended,
    retentionDays,
    quota,
    ...pickSettings(account),
    policy: policy && {
      ...policy,
      signInHours: policy.signInHours ?? null,
      peopleNetworks: [...policy.peopleNetworks],
      programNetworks: [...policy.programNetworks],
    },
    users: (await readUsers(kysely, id)).map(
      ({ operator, ...user }): RawUser => ({ ...user, operator: operator || undefined }),
    ),
    senders: (await readSenders(kysely, id)) as RawSender[],
    integrations: (await readIntegrations(kysely, id)).map(
      ({ clientId, name: called, redirectUri, grants }): RawIntegration => ({
        clientId,
        name: called,
        redirectUri,
        grants: [...grants].sort(),
      }),
    ),
    templates: await exportTemplates(kysely, id, files.image),
    lists: (await readLists(kysely, id)).map((list): RawList => {
      const { id: listId, name: called, folderName, description } = list;
      const csv = files.contacts(id, listId);
      return { id: listId, name: called, folderName, description, csv };
    }),
    outboxSources: (await listSources(kysely, id)).map(
      (one) => Clean(OutboxSourceSchema, one) as RawOutboxSource,
    ),
  };
}

/** One after the other, so that the images of only one are in memory as bytes. */
async function exportTemplates(
  kysely: Kysely,
  accountId: AccountId,
  nameFile: NameImageFile,
): Promise<RawTemplate[]> {
  const templates: RawTemplate[] = [];
  for (const row of await readPublishedContents(kysely, accountId)) {
    const { id, name, createdBy, whenUncertain, source } = row;
    const { subject, previewText, html, mjml, text, fields = {}, locale, variants } = source;
    const images: RawImage[] = [];
    for (const [index, image] of (source.images ?? []).entries()) {
      const { contentId, filename, contentType, sha256 } = image;
      const file = nameFile({ accountId, templateId: id }, image, index + 1);
      const content =
        file === undefined
          ? (await readContentBytes(kysely, accountId, sha256)).toString('base64')
          : { file };
      images.push({ contentId, filename, contentType, content });
    }
    templates.push({
      id,
      name,
      createdBy,
      sender: row.senderAddress ?? undefined,
      subject,
      previewText,
      html,
      mjml,
      text,
      locale,
      variants,
      fields: Object.keys(fields).length === 0 ? undefined : fields,
      freshnessMinutes: Math.max(1, Math.round(row.freshnessSeconds / 60)),
      whenUncertain,
      images: images.length === 0 ? undefined : images,
    });
  }
  return templates;
}
