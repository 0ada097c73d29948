import type { AccessPolicy, RetentionDays } from '../account/account.ts';
import type { AccountId, ClientId, ListId } from '../foundation/ids.ts';
import { isNetwork } from '../foundation/network/ip-address.ts';
import { buildTemplate } from './build-template.ts';
import {
  type Manifest,
  type ManifestAccount,
  type ManifestContacts,
  type ManifestIntegration,
  type ManifestList,
  type ManifestSender,
  type ManifestUser,
  manifestSections,
} from './manifest.ts';
import type { Locate, ManifestPath, ProblemCollector } from './manifest-problems.ts';
import type {
  RawAccount,
  RawIntegration,
  RawList,
  RawManifest,
  RawPolicy,
  RawSender,
  RawUser,
} from './manifest-schema.ts';
import { maxCsvBytes, readContacts } from './read-contacts.ts';
import {
  type BuildContext,
  checkPassword,
  checkSecret,
  checkText,
  findRedirectUriProblem,
  parseManifestAddress,
  parseOptionalAddress,
} from './read-values.ts';

/**
 * Converts a schema-valid manifest to typed values and reads its files, collecting problems. Holes in its lists are entries
 * that were removed as invalid.
 */
export async function buildManifest(
  raw: RawManifest,
  locate: Locate,
  context: BuildContext,
): Promise<Manifest> {
  const accounts: ManifestAccount[] = [];
  for (const [index, account] of raw.accounts.entries())
    if (index in raw.accounts)
      accounts.push(await buildAccount(account, ['accounts', index], context));
  return { locate, accounts };
}

function buildPolicy(raw: RawPolicy, path: ManifestPath, problems: ProblemCollector): AccessPolicy {
  const networksOf = (name: 'peopleNetworks' | 'programNetworks'): readonly string[] => {
    const networks = raw[name] ?? [];
    for (const [index, network] of networks.entries())
      if (!isNetwork(network))
        problems.add([...path, name, index], 'is not a network such as 192.0.2.0/24');
    return networks;
  };
  return {
    signIn: raw.signIn ?? 'own-choice',
    secondFactor: raw.secondFactor ?? 'own-choice',
    signInHours: raw.signInHours ?? undefined,
    peopleNetworks: networksOf('peopleNetworks'),
    programNetworks: networksOf('programNetworks'),
    securityAddress:
      parseOptionalAddress(raw.securityAddress, [...path, 'securityAddress'], problems) ||
      undefined,
  };
}

async function buildAccount(
  raw: RawAccount,
  path: ManifestPath,
  context: BuildContext,
): Promise<ManifestAccount> {
  const { problems } = context;
  const each = <Raw, Built>(
    name: string,
    list: readonly Raw[] | undefined,
    build: (raw: Raw, path: ManifestPath) => Built,
  ): Built[] => (list ?? []).flatMap((entry, index) => [build(entry, [...path, name, index])]);
  return {
    path,
    id: raw.id as AccountId,
    name: checkText(raw.name, [...path, 'name'], problems),
    addOns: raw.addOns,
    suspended: raw.suspended,
    retentionDays: raw.retentionDays as RetentionDays | undefined,
    quota: raw.quota && { perHour: raw.quota.perHour, perDay: raw.quota.perDay },
    archiveAddress: parseOptionalAddress(raw.archiveAddress, [...path, 'archiveAddress'], problems),
    attachmentLimit: raw.attachmentLimit,
    policy: raw.policy && buildPolicy(raw.policy, [...path, 'policy'], problems),
    sections: new Set(manifestSections.filter((name) => raw[name] !== undefined)),
    users: each('users', raw.users, (user, at) => buildUser(user, at, problems)),
    senders: each('senders', raw.senders, (sender, at) => buildSender(sender, at, problems)),
    integrations: each('integrations', raw.integrations, (integration, at) =>
      buildIntegration(integration, at, problems),
    ),
    templates: await runSequentially(
      each(
        'templates',
        raw.templates,
        (template, at) => () => buildTemplate(template, at, context),
      ),
    ),
    lists: await runSequentially(
      each('lists', raw.lists, (list, at) => () => buildList(list, at, context)),
    ),
  };
}

/** Sequential, so a manifest with thousands of files opens only one at a time. */
async function runSequentially<Built>(builds: readonly (() => Promise<Built>)[]): Promise<Built[]> {
  const built: Built[] = [];
  for (const build of builds) built.push(await build());
  return built;
}

function buildUser(raw: RawUser, path: ManifestPath, problems: ProblemCollector): ManifestUser {
  return {
    path,
    email: parseManifestAddress(raw.email, [...path, 'email'], problems),
    name: raw.name === undefined ? undefined : checkText(raw.name, [...path, 'name'], problems),
    password: checkPassword(raw.password, [...path, 'password'], problems),
    role: raw.role,
    operator: raw.operator,
  };
}

function buildSender(
  raw: RawSender,
  path: ManifestPath,
  problems: ProblemCollector,
): ManifestSender {
  return {
    path,
    address: parseManifestAddress(raw.address, [...path, 'address'], problems),
    displayNames: raw.displayNames?.map((name, index) =>
      checkText(name, [...path, 'displayNames', index], problems),
    ),
    verified: raw.verified,
  };
}

function buildIntegration(
  raw: RawIntegration,
  path: ManifestPath,
  problems: ProblemCollector,
): ManifestIntegration {
  const { redirectUri } = raw;
  const problem = redirectUri === undefined ? undefined : findRedirectUriProblem(redirectUri);
  if (problem !== undefined) problems.add([...path, 'redirectUri'], problem);
  return {
    path,
    clientId: raw.clientId as ClientId,
    clientSecret: checkSecret(raw.clientSecret, [...path, 'clientSecret'], problems),
    name: checkText(raw.name, [...path, 'name'], problems),
    redirectUri,
    grants: raw.grants,
  };
}

async function buildList(
  raw: RawList,
  path: ManifestPath,
  context: BuildContext,
): Promise<ManifestList> {
  const { problems } = context;
  const checked = (name: 'folderName' | 'description'): string | undefined => {
    const text = raw[name];
    return text === undefined ? undefined : checkText(text, [...path, name], problems);
  };
  return {
    path,
    id: raw.id as ListId,
    name: checkText(raw.name, [...path, 'name'], problems),
    folderName: checked('folderName'),
    description: checked('description'),
    contacts: raw.csv === undefined ? undefined : await buildContacts(raw.csv, path, context),
  };
}

async function buildContacts(
  file: string,
  path: ManifestPath,
  { files, problems }: BuildContext,
): Promise<ManifestContacts | undefined> {
  const at = [...path, 'csv'];
  const bytes = await files.bytes(file, maxCsvBytes);
  if (!('reason' in bytes))
    return readContacts(bytes, (message) => problems.add(at, `${file} ${message}`));
  problems.add(at, `${file} ${bytes.reason}`);
  return undefined;
}
