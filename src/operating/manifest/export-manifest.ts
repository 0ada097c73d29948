import type { AccessPolicy, Account } from '../../accounts/account/account.ts';
import { readAccount } from '../../accounts/account/account-store.ts';
import { readIntegrations } from '../../accounts/oauth/integration-store.ts';
import { readSenders } from '../../accounts/sender/sender-store.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { readLists } from '../../content/list/list-store.ts';
import type { TemplateImage } from '../../content/template/template-source.ts';
import type {
  RawAccount,
  RawImage,
  RawIntegration,
  RawList,
  RawManifest,
  RawPolicy,
  RawSender,
  RawTemplate,
  RawUser,
} from './manifest-schema.ts';
import {
  type PublishedContent,
  readAccountIds,
  readContentBytes,
  readPublishedContents,
  readUsers,
} from './read-manifest-store.ts';

type Kysely = Database['kysely'];

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
 * Exports the installation as a manifest. Passwords and client secrets are stored as hashes, so applying it to another
 * installation needs new ones.
 */
export async function exportManifest(kysely: Kysely, files: FileNames): Promise<RawManifest> {
  const accounts: RawAccount[] = [];
  for (const accountId of await readAccountIds(kysely)) {
    const account = await exportAccount(kysely, accountId, files);
    if (account !== undefined) accounts.push(account);
  }
  return escapeReferences({ accounts }) as RawManifest;
}

async function exportAccount(
  kysely: Kysely,
  accountId: AccountId,
  files: FileNames,
): Promise<RawAccount | undefined> {
  const account = await readAccount(kysely, accountId);
  if (account === undefined) return undefined;
  const { id, name, suspended, retentionDays } = account;
  const templates = await readPublishedContents(kysely, id);
  return {
    id,
    name,
    addOns: [...account.addOns].sort() as RawAccount['addOns'] & string[],
    suspended,
    retentionDays,
    ...exportQuota(account),
    ...(account.archiveAddress === undefined ? {} : { archiveAddress: account.archiveAddress }),
    ...(account.attachmentLimit === undefined ? {} : { attachmentLimit: account.attachmentLimit }),
    ...(account.policy && { policy: exportPolicy(account.policy) }),
    users: (await readUsers(kysely, id)).map(
      ({ operator, ...user }): RawUser => ({ ...user, ...(operator ? { operator } : {}) }),
    ),
    senders: (await readSenders(kysely, id)).map(
      ({ address, displayNames, verified }): RawSender => ({
        address,
        displayNames: [...displayNames],
        verified,
      }),
    ),
    integrations: (await readIntegrations(kysely, id)).map(
      ({ clientId, name: called, redirectUri, grants }): RawIntegration => ({
        clientId,
        name: called,
        redirectUri,
        grants: [...grants].sort(),
      }),
    ),
    templates: await exportTemplates(kysely, id, templates, files.image),
    lists: (await readLists(kysely, id)).map((list): RawList => {
      const csv = files.contacts(id, list.id);
      return {
        id: list.id,
        name: list.name,
        folderName: list.folderName,
        description: list.description,
        ...(csv === undefined ? {} : { csv }),
      };
    }),
  };
}

function exportQuota({ quota }: Account): Pick<RawAccount, 'quota'> {
  if (quota === undefined) return {};
  const { perHour, perDay } = quota;
  return {
    quota: {
      ...(perHour === undefined ? {} : { perHour }),
      ...(perDay === undefined ? {} : { perDay }),
    },
  };
}

function exportPolicy(policy: AccessPolicy): RawPolicy {
  return {
    signIn: policy.signIn,
    secondFactor: policy.secondFactor,
    signInHours: policy.signInHours ?? null,
    peopleNetworks: [...policy.peopleNetworks],
    programNetworks: [...policy.programNetworks],
    ...(policy.securityAddress !== undefined && { securityAddress: policy.securityAddress }),
  };
}

/** One after the other, so that the images of only one are in memory as bytes. */
async function exportTemplates(
  kysely: Kysely,
  accountId: AccountId,
  rows: readonly PublishedContent[],
  nameFile: NameImageFile,
): Promise<RawTemplate[]> {
  const templates: RawTemplate[] = [];
  for (const row of rows) {
    const images: RawImage[] = [];
    for (const [index, image] of (row.source.images ?? []).entries()) {
      const { contentId, filename, contentType, sha256 } = image;
      const file = nameFile({ accountId, templateId: row.id }, image, index + 1);
      const content =
        file === undefined
          ? (await readContentBytes(kysely, accountId, sha256)).toString('base64')
          : { file };
      images.push({ contentId, filename, contentType, content });
    }
    templates.push({ ...exportTemplate(row), ...(images.length === 0 ? {} : { images }) });
  }
  return templates;
}

function exportTemplate(row: PublishedContent): RawTemplate {
  const { subject, previewText, html, mjml, text, fields = {}, locale, variants } = row.source;
  return {
    id: row.id,
    name: row.name,
    createdBy: row.createdBy,
    ...(row.senderAddress === null ? {} : { sender: row.senderAddress }),
    subject,
    ...(previewText === undefined ? {} : { previewText }),
    ...(html === undefined ? {} : { html }),
    ...(mjml === undefined ? {} : { mjml }),
    ...(text === undefined ? {} : { text }),
    ...(locale === undefined ? {} : { locale }),
    ...(variants === undefined ? {} : { variants }),
    ...(Object.keys(fields).length === 0 ? {} : { fields: { ...fields } }),
    freshnessMinutes: Math.max(1, Math.round(row.freshnessSeconds / 60)),
    whenUncertain: row.whenUncertain,
  };
}

/** Escapes text that looks like an environment variable reference. */
function escapeReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(`\${`, () => `$\${`);
  if (Array.isArray(value)) return value.map(escapeReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, escapeReferences(member)]),
  );
}
