import { DkimKeyStore } from '../../accounts/sender/dkim-key-store.ts';
import {
  domainSettings,
  refuseTrackingHost,
  saveDomainSettings,
} from '../../accounts/sender/domain-settings.ts';
import type { SendingDomain } from '../../accounts/sender/sending-domain.ts';
import {
  type DomainSettings,
  readSendingDomain,
  readSendingDomains,
  removeSendingDomain,
  type StoredDomainFinding,
} from '../../accounts/sender/sending-domain-store.ts';
import { readRecordFindings, SendingDomains } from '../../accounts/sender/sending-domains.ts';
import { serviceNames } from '../../accounts/sender/service-names.ts';
import { DnsClient } from '../../base/dns/dns-client.ts';
import { chooseDnsServers } from '../../base/dns/dns-server.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { createLog } from '../../base/values/log.ts';
import { parseDomainName } from '../../base/values/mail-domain.ts';
import { poolsOf } from '../../sending/delivery/direct/source-pools.ts';
import { commandLine, recordChange } from '../change/actor.ts';
import { changeResource, dropResource, ResourceNotFound } from '../change/change-resource.ts';
import { type RunningInstallation, withRunningInstallation } from './open-running.ts';
import { readAccountId, requireAccount } from './read-account.ts';
import { type CommandShell, type JsonOption, printResult, printTable } from './shell.ts';
import { describeWarmUp, readWarmUp, type WarmUpOptions } from './source.ts';

export interface AddDomainOptions extends JsonOption {
  readonly ed25519?: boolean;
  readonly returnPath: string;
}

export interface TrackingOptions extends JsonOption {
  readonly off?: boolean;
}

/** `domain list`: the domains of an account with their state. */
export async function listDomainsCommand(
  shell: CommandShell,
  accountText: string,
  options: JsonOption,
): Promise<void> {
  const accountId = readAccountId(accountText);
  return withRunningInstallation(shell, async ({ database: { kysely } }) => {
    await requireAccount(kysely, accountId);
    const domains = await readSendingDomains(kysely, accountId);
    const shown = domains.map(({ domain, state }) => ({ domain, state }));
    printTable(shell, options, shown, [
      ['domain', ({ domain }) => domain],
      ['state', ({ state }) => state],
    ]);
  });
}

/** `domain show|check|rotate|remove`. @returns 0, or 1 if a check finds the domain unverified */
export async function domainCommand(
  action: 'show' | 'check' | 'rotate' | 'remove',
  shell: CommandShell,
  accountText: string,
  domainText: string,
  options: JsonOption,
): Promise<number> {
  const accountId = readAccountId(accountText);
  return withRunningInstallation(shell, async (installation) => {
    await requireAccount(installation.database.kysely, accountId);
    const domain = await findDomain(installation, accountId, domainText);
    if (action === 'remove') {
      await dropResource(installation, commandLine(accountId), {
        ...domainSettings(accountId, domain.domain),
        write: (transaction) => removeSendingDomain(transaction, accountId, domain.domain),
      }).catch(throwAsNoDomain(domain));
      printResult(shell, options, `Removed ${domain.domain} and its keys.`, {
        domain: domain.domain,
        removed: true,
      });
      return 0;
    }
    const sendingDomains = await openSendingDomains(installation);
    if (action === 'rotate')
      await sendingDomains.rotate(accountId, domain.domain, (transaction) =>
        recordChange(transaction, commandLine(accountId), 'domain_keys_rotated', domain.domain),
      );
    const shown = action === 'check' ? ((await sendingDomains.check(domain)) ?? domain) : domain;
    await show(installation, sendingDomains, shown, options, shell);
    return action === 'check' && shown.state !== 'verified' ? 1 : 0;
  });
}

/** `domain add`. @throws OperatorError if the account or domain is invalid, or the account already has the domain */
export async function addDomainCommand(
  shell: CommandShell,
  accountText: string,
  domainText: string,
  options: AddDomainOptions,
): Promise<void> {
  const accountId = readAccountId(accountText);
  const name = readName(domainText);
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(options.returnPath))
    throw new OperatorError('--return-path must be one label of a host name, such as bounces.');
  return withRunningInstallation(shell, async (installation) => {
    await requireAccount(installation.database.kysely, accountId);
    const sendingDomains = await openSendingDomains(installation);
    const settings = { ed25519: options.ed25519 === true, returnPathLabel: options.returnPath };
    const added = await sendingDomains.add(accountId, name, settings, (transaction) =>
      recordChange(transaction, commandLine(accountId), 'domain_created', name),
    );
    if (!added) throw new OperatorError(`The account ${accountId} already has the domain ${name}.`);
    const domain = await findDomain(installation, accountId, name);
    await show(installation, sendingDomains, domain, options, shell);
  });
}

/** `domain warm-up`. @throws OperatorError without a valid `--goal` or `--off` */
export async function warmUpCommand(
  shell: CommandShell,
  accountText: string,
  domainText: string,
  options: WarmUpOptions & JsonOption,
): Promise<void> {
  const accountId = readAccountId(accountText);
  const warmUp = readWarmUp(options);
  return withRunningInstallation(shell, async (installation) => {
    const found = await findDomain(installation, accountId, domainText);
    await change(installation, found, { warmUp: warmUp ?? null });
    printResult(shell, options, describeWarmUp(found.domain, warmUp), {
      domain: found.domain,
      warmUp: warmUp ?? null,
    });
  });
}

/** `domain pool`. @throws OperatorError if DIRECT_SOURCES doesn't have the pool */
export async function poolCommand(
  shell: CommandShell,
  accountText: string,
  domainText: string,
  pool: string,
  options: JsonOption,
): Promise<void> {
  const accountId = readAccountId(accountText);
  return withRunningInstallation(shell, async (installation) => {
    const found = await findDomain(installation, accountId, domainText);
    if (!poolsOf(installation.config.direct.sources).includes(pool))
      throw new OperatorError(`DIRECT_SOURCES has no pool ${pool}.`);
    await change(installation, found, { sourcePool: pool });
    printResult(shell, options, `Mail of ${found.domain} is now sent from the pool ${pool}.`, {
      domain: found.domain,
      pool,
    });
  });
}

/** `domain tracking`. @throws OperatorError if the host isn't a subdomain of the domain */
export async function trackingCommand(
  shell: CommandShell,
  accountText: string,
  domainText: string,
  hostText: string | undefined,
  options: TrackingOptions,
): Promise<void> {
  const accountId = readAccountId(accountText);
  if ((hostText === undefined) === (options.off !== true))
    throw new OperatorError('Name a host for tracked links, or use --off.');
  const host = hostText === undefined ? undefined : readName(hostText);
  return withRunningInstallation(shell, async (installation) => {
    const found = await findDomain(installation, accountId, domainText);
    const { domain } = found;
    const refusal = host && refuseTrackingHost(host, domain, installation.config.publicUrl);
    if (refusal === 'not-below')
      throw new OperatorError(
        `The host must be a subdomain of ${domain}, such as links.${domain}.`,
      );
    if (refusal === 'no-public-url')
      throw new OperatorError('Set PUBLIC_URL first, because the tracking host points to it.');
    await change(installation, found, { trackingHost: host ?? null });
    await show(
      installation,
      await openSendingDomains(installation),
      await findDomain(installation, accountId, domainText),
      options,
      shell,
    );
  });
}

async function change(
  installation: RunningInstallation,
  { accountId, domain }: SendingDomain,
  settings: Partial<DomainSettings>,
): Promise<void> {
  await changeResource(installation, commandLine(accountId), {
    ...domainSettings(accountId, domain),
    write: (transaction, before) =>
      saveDomainSettings(transaction, accountId, domain, before, settings),
  }).catch(throwAsNoDomain({ accountId, domain }));
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
  options: JsonOption,
  shell: CommandShell,
): Promise<void> {
  const records = await readRecordFindings(sendingDomains, database.kysely, domain);
  const lines = sendingDomains
    .problems()
    .flatMap(({ sentence, nextStep }) => [`${sentence} ${nextStep}`, '']);
  lines.push(`${domain.domain} is ${domain.state}. Publish these records:`);
  for (const { name, type, value, required, why, finding } of records) {
    lines.push('', `${name}. ${type} ${type === 'TXT' ? quote(value) : value}`);
    lines.push(`  ${required ? 'required' : 'not required now'}: ${why}`);
    lines.push(...describe(finding));
  }
  printResult(shell, options, lines.join('\n'), {
    domain: domain.domain,
    state: domain.state,
    records,
  });
}

function describe(finding: StoredDomainFinding | undefined): string[] {
  if (finding === undefined) return ['  not checked yet'];
  const { state, explanation, resolver, checkedAt, found } = finding;
  return [
    `  ${state}: ${explanation} (resolver ${resolver}, ${checkedAt.toISOString()})`,
    ...found.map((text) => `  found: ${text}`),
  ];
}

/** RFC 1035 section 3.3.14: strings of at most 255 octets, which readers concatenate. */
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
  if (domain === undefined) throw noDomain(accountId, name);
  return domain;
}

function noDomain(accountId: AccountId, domain: string): OperatorError {
  return new OperatorError(`The account ${accountId} has no sending domain ${domain}.`);
}

/** Handles a domain that was removed between the lookup and the change. */
function throwAsNoDomain({ accountId, domain }: Pick<SendingDomain, 'accountId' | 'domain'>) {
  return (error: unknown): never => {
    throw error instanceof ResourceNotFound ? noDomain(accountId, domain) : error;
  };
}

function readName(text: string): string {
  const name = parseDomainName(text);
  if (name === undefined) throw new OperatorError(`"${text}" is not a valid domain.`);
  return name;
}
