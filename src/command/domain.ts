import { defaultPool } from '../delivery/direct/source-pools.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { DnsClient } from '../foundation/dns/dns-client.ts';
import { chooseDnsServers } from '../foundation/dns/dns-server.ts';
import { parseEmailAddress } from '../foundation/email-address.ts';
import { OperatorError } from '../foundation/errors.ts';
import { type AccountId, parseAccountId } from '../foundation/ids.ts';
import { createLog } from '../foundation/log.ts';
import { DkimKeyStore } from '../sender/dkim-key-store.ts';
import type { SendingDomain } from '../sender/sending-domain.ts';
import {
  readFindings,
  readSendingDomain,
  readSendingDomains,
  removeSendingDomain,
  type StoredDomainFinding,
  setSourcePool,
  setTrackingHost,
  setWarmUp,
} from '../sender/sending-domain-store.ts';
import { SendingDomains } from '../sender/sending-domains.ts';
import { serviceNames } from '../sender/service-names.ts';
import { type RunningInstallation, withRunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { requireAccount } from './require-account.ts';
import { describeWarmUp, readWarmUp } from './warm-up-option.ts';

type Environment = Readonly<Record<string, string | undefined>>;
export type DomainAction = 'list' | 'show' | 'check' | 'rotate' | 'remove';

/** `domain list|show|check|rotate|remove`. @returns 0, or 1 where a check finds the domain not verified */
export async function domainCommand(
  action: DomainAction,
  accountText: string,
  domainText: string,
  environment: Environment,
): Promise<number> {
  const accountId = readAccountId(accountText);
  return withRunningInstallation(environment, async (installation) => {
    const { kysely } = installation.database;
    await requireAccount(kysely, accountId);
    if (action === 'list') {
      for (const { domain, state } of await readSendingDomains(kysely, accountId))
        process.stdout.write(`${domain}\t${state}\n`);
      return 0;
    }
    const domain = await findDomain(installation, accountId, domainText);
    if (action === 'remove') {
      await kysely.transaction().execute(async (transaction) => {
        await removeSendingDomain(transaction, accountId, domain.domain);
        await record(transaction, domain, 'domain_removed');
      });
      process.stdout.write(`Removed ${domain.domain} and its keys.\n`);
      return 0;
    }
    const sendingDomains = await openSendingDomains(installation);
    if (action === 'rotate')
      await sendingDomains.rotate(accountId, domain.domain, (transaction) =>
        record(transaction, domain, 'domain_keys_rotated'),
      );
    const shown = action === 'check' ? ((await sendingDomains.check(domain)) ?? domain) : domain;
    await show(installation, sendingDomains, shown);
    return action === 'check' && shown.state !== 'verified' ? 1 : 0;
  });
}

/** `domain add`. @throws OperatorError where the account or the domain cannot be, or the account has it already */
export async function addDomainCommand(
  accountText: string,
  domainText: string,
  options: { readonly ed25519?: boolean; readonly returnPath: string },
  environment: Environment,
): Promise<number> {
  const accountId = readAccountId(accountText);
  const name = readName(domainText);
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(options.returnPath))
    throw new OperatorError('--return-path must be one label of a host name, such as bounces.');
  return withRunningInstallation(environment, async (installation) => {
    await requireAccount(installation.database.kysely, accountId);
    const sendingDomains = await openSendingDomains(installation);
    const settings = { ed25519: options.ed25519 === true, returnPathLabel: options.returnPath };
    const added = await sendingDomains.add(accountId, name, settings, (transaction) =>
      record(transaction, { accountId, domain: name }, 'domain_created'),
    );
    if (!added) throw new OperatorError(`The account ${accountId} has ${name} already.`);
    await show(installation, sendingDomains, await findDomain(installation, accountId, name));
    return 0;
  });
}

/** `domain warm-up`. @throws OperatorError where neither a goal nor an end is given */
export async function warmUpCommand(
  accountText: string,
  domainText: string,
  options: { readonly goal?: string; readonly off?: boolean },
  environment: Environment,
): Promise<number> {
  const accountId = readAccountId(accountText);
  const warmUp = readWarmUp(options);
  return withRunningInstallation(environment, async (installation) => {
    const found = await findDomain(installation, accountId, domainText);
    const { domain } = found;
    await change(installation, found, 'warmUp', (transaction) =>
      setWarmUp(transaction, accountId, domain, warmUp),
    );
    process.stdout.write(describeWarmUp(domain, warmUp));
    return 0;
  });
}

/** `domain pool`. @throws OperatorError for a pool that DIRECT_SOURCES does not name */
export async function poolCommand(
  accountText: string,
  domainText: string,
  pool: string,
  environment: Environment,
): Promise<number> {
  const accountId = readAccountId(accountText);
  return withRunningInstallation(environment, async (installation) => {
    const found = await findDomain(installation, accountId, domainText);
    const { domain } = found;
    const { sources } = installation.config.direct;
    if (pool !== defaultPool && !sources.some((source) => source.pool === pool))
      throw new OperatorError(`DIRECT_SOURCES has no address in a pool ${pool}.`);
    await change(installation, found, 'sourcePool', (transaction) =>
      setSourcePool(transaction, accountId, domain, pool),
    );
    process.stdout.write(`Mail of ${domain} leaves from the pool ${pool}.\n`);
    return 0;
  });
}

/** `domain tracking`. @throws OperatorError for a host that is not below the domain */
export async function trackingCommand(
  accountText: string,
  domainText: string,
  hostText: string | undefined,
  options: { readonly off?: boolean },
  environment: Environment,
): Promise<number> {
  const accountId = readAccountId(accountText);
  if ((hostText === undefined) === (options.off !== true))
    throw new OperatorError('Give the host that tracked links are to carry, or --off.');
  const host = hostText === undefined ? undefined : readName(hostText);
  return withRunningInstallation(environment, async (installation) => {
    const found = await findDomain(installation, accountId, domainText);
    const { domain } = found;
    if (host !== undefined && !host.endsWith(`.${domain}`))
      throw new OperatorError(`The host must be below ${domain}, such as links.${domain}.`);
    if (host !== undefined && installation.config.publicUrl === undefined)
      throw new OperatorError('Set PUBLIC_URL first: the host leads to it.');
    await change(installation, found, 'trackingHost', (transaction) =>
      setTrackingHost(transaction, accountId, domain, host),
    );
    await show(
      installation,
      await openSendingDomains(installation),
      await findDomain(installation, accountId, domainText),
    );
    return 0;
  });
}

/** Changes a setting of a domain, with the entry in the audit log that names it. */
function change(
  { database }: RunningInstallation,
  domain: SendingDomain,
  changed: string,
  write: (transaction: Database['kysely']) => Promise<unknown>,
): Promise<void> {
  return database.kysely.transaction().execute(async (transaction) => {
    await write(transaction);
    await record(transaction, domain, 'domain_changed', { changed });
  });
}

function record(
  transaction: Database['kysely'],
  { accountId, domain }: Pick<SendingDomain, 'accountId' | 'domain'>,
  kind: string,
  detail: Readonly<Record<string, string>> = {},
): Promise<void> {
  return recordCommand(transaction, { kind, accountId, detail: { id: domain, ...detail } });
}

async function openSendingDomains({
  config,
  database,
  key,
}: RunningInstallation): Promise<SendingDomains> {
  return new SendingDomains({
    database,
    dns: new DnsClient(chooseDnsServers(config.dnsServers)),
    keys: new DkimKeyStore(await key()),
    service: serviceNames(config),
    log: createLog('silent'),
  });
}

async function show(
  { database }: RunningInstallation,
  sendingDomains: SendingDomains,
  domain: SendingDomain,
): Promise<void> {
  const findings = await readFindings(database.kysely, domain.accountId, domain.domain);
  const lines = [`${domain.domain} is ${domain.state}. Publish these records:`];
  for (const { kind, name, type, value, required, why } of await sendingDomains.records(domain)) {
    lines.push('', `${name}. ${type} ${type === 'TXT' ? quote(value) : value}`);
    lines.push(`  ${required ? 'needed' : 'not needed now'}: ${why}`);
    const finding = findings.find((one) => one.kind === kind && one.name === name);
    lines.push(...describe(finding));
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

function describe(finding: StoredDomainFinding | undefined): string[] {
  if (finding === undefined) return ['  not looked up yet'];
  const { state, explanation, resolver, checkedAt, found } = finding;
  return [
    `  ${state}: ${explanation} (resolver ${resolver}, ${checkedAt.toISOString()})`,
    ...found.map((text) => `  found: ${text}`),
  ];
}

/** RFC 1035 section 3.3.14: strings of at most 255 octets; readers join them. */
function quote(text: string): string {
  return (text.match(/.{1,255}/g) ?? []).map((part) => `"${part}"`).join(' ');
}

async function findDomain(
  { database }: RunningInstallation,
  accountId: AccountId,
  domainText: string,
): Promise<SendingDomain> {
  const name = readName(domainText);
  const domain = await readSendingDomain(database.kysely, accountId, name);
  if (domain === undefined)
    throw new OperatorError(`The account ${accountId} has no sending domain ${name}.`);
  return domain;
}

function readAccountId(text: string): AccountId {
  const accountId = parseAccountId(text);
  if (accountId === undefined)
    throw new OperatorError(`The account must be the id of one, not "${text}".`);
  return accountId;
}

function readName(text: string): string {
  const parsed = parseEmailAddress(`x@${text}`);
  if (!parsed.ok) throw new OperatorError(`"${text}" is no domain.`);
  return parsed.address.slice(2);
}
