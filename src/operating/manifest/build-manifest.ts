import { buildTemplate } from './build-template.ts';
import { type Manifest, type ManifestAccount, manifestSections } from './manifest.ts';
import type { Locate, ManifestPath } from './manifest-problems.ts';
import type { RawAccount, RawManifest } from './manifest-schema.ts';
import type { BuildContext } from './read-values.ts';
import {
  accountResource,
  integrationSection,
  listSection,
  outboxSection,
  senderSection,
} from './resource-sections.ts';
import { buildUser } from './user-section.ts';

/**
 * Converts a schema-valid manifest to typed values and reads its files, collecting problems. Holes in its lists are entries
 * that were removed as invalid.
 */
export async function buildManifest(
  raw: RawManifest,
  locate: Locate,
  context: BuildContext,
): Promise<Manifest> {
  const build = (account: RawAccount, path: ManifestPath) => buildAccount(account, path, context);
  return { locate, accounts: await buildEach(raw.accounts, ['accounts'], build) };
}

async function buildAccount(
  raw: RawAccount,
  path: ManifestPath,
  context: BuildContext,
): Promise<ManifestAccount> {
  const each = <Raw, Entry>(
    name: string,
    entries: readonly Raw[] | undefined,
    build: (raw: Raw, path: ManifestPath, context: BuildContext) => Entry | Promise<Entry>,
  ) => buildEach(entries, [...path, name], (entry, at) => build(entry, at, context));
  return {
    ...(await accountResource.build(raw, path, context)),
    sections: new Set(manifestSections.filter((name) => raw[name] !== undefined)),
    users: await each('users', raw.users, buildUser),
    senders: await each('senders', raw.senders, senderSection.build),
    integrations: await each('integrations', raw.integrations, integrationSection.build),
    templates: await each('templates', raw.templates, buildTemplate),
    lists: await each('lists', raw.lists, listSection.build),
    outboxSources: await each('outboxSources', raw.outboxSources, outboxSection.build),
  };
}

/** Sequential, so a manifest with thousands of files opens only one at a time. */
async function buildEach<Raw, Entry>(
  entries: readonly Raw[] = [],
  path: ManifestPath,
  build: (raw: Raw, path: ManifestPath) => Entry | Promise<Entry>,
): Promise<Entry[]> {
  const built: Entry[] = [];
  for (const [index, entry] of entries.entries())
    if (index in entries) built.push(await build(entry, [...path, index]));
  return built;
}
