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
import { createLog } from '../../base/values/log.ts';
import { parseDomainName } from '../../base/values/mail-domain.ts';
import { poolsOf } from '../../sending/delivery/direct/source-pools.ts';
import { commandLine, recordChange } from '../change/actor.ts';
import { changeResource, dropResource } from '../change/change-resource.ts';
import { type AccountContext, type CommandContext, onAccount } from './open-running.ts';
import { notInAccount, orNotInAccount } from './read-account.ts';
import { printResult, printTable } from './shell.ts';
import { describeWarmUp, readWarmUp, type WarmUpOptions } from './source.ts';

/** `domain …`: sending domains of an account. */
export const domainCommands = {
  list: onAccount(() => async ({ shell, database: { kysely }, accountId }) => {
    const domains = await readSendingDomains(kysely, accountId);
    const shown = domains.map(({ domain, state }) => ({ domain, state }));
    printTable(shell, shown, [
      ['domain', ({ domain }) => domain],
      ['state', ({ state }) => state],
    ]);
  }),
  show: onAccount((domain: string) => async (context) => {
    await show(context, await openSendingDomains(context), await findDomain(context, domain));
  }),
  /** @returns 1 if the domain isn't verified */
  check: onAccount((domain: string) => async (context) => {
    const found = await findDomain(context, domain);
    const sendingDomains = await openSendingDomains(context);
    const checked = (await sendingDomains.check(found)) ?? found;
    await show(context, sendingDomains, checked);
    return checked.state === 'verified' ? 0 : 1;
  }),
  rotate: onAccount((domain: string) => async (context) => {
    const { accountId } = context;
    const found = await findDomain(context, domain);
    const sendingDomains = await openSendingDomains(context);
    await sendingDomains.rotate(accountId, found.domain, (transaction) =>
      recordChange(transaction, commandLine(accountId), 'domain_keys_rotated', found.domain),
    );
    await show(context, sendingDomains, found);
  }),
  remove: onAccount((domainText: string) => async (context) => {
    const { shell, accountId } = context;
    const { domain } = await findDomain(context, domainText);
    await dropResource(context, commandLine(accountId), {
      ...domainSettings(accountId, domain),
      write: (transaction) => removeSendingDomain(transaction, accountId, domain),
    }).catch(orNotInAccount(accountId, `sending domain ${domain}`));
    printResult(shell, `Removed ${domain} and its keys.`, { domain, removed: true });
  }),
  add: onAccount(
    (domainText: string, options: { readonly ed25519?: boolean; readonly returnPath: string }) => {
      const name = readName(domainText);
      if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(options.returnPath))
        throw new OperatorError('--return-path must be one label of a host name, such as bounces.');
      return async (context) => {
        const { accountId } = context;
        const sendingDomains = await openSendingDomains(context);
        const settings = { ed25519: options.ed25519 === true, returnPathLabel: options.returnPath };
        const added = await sendingDomains.add(accountId, name, settings, (transaction) =>
          recordChange(transaction, commandLine(accountId), 'domain_created', name),
        );
        if (!added)
          throw new OperatorError(`The account ${accountId} already has the domain ${name}.`);
        await show(context, sendingDomains, await findDomain(context, name));
      };
    },
  ),
  'warm-up': onAccount((domainText: string, options: WarmUpOptions) => {
    const warmUp = readWarmUp(options) ?? null;
    return async (context) => {
      const { domain } = await findDomain(context, domainText);
      await change(context, domain, { warmUp });
      printResult(context.shell, describeWarmUp(domain, warmUp ?? undefined), { domain, warmUp });
    };
  }),
  pool: onAccount((domainText: string, pool: string) => async (context) => {
    const { domain } = await findDomain(context, domainText);
    if (!poolsOf(context.config.direct.sources).includes(pool))
      throw new OperatorError(`DIRECT_SOURCES has no pool ${pool}.`);
    await change(context, domain, { sourcePool: pool });
    const text = `Mail of ${domain} is now sent from the pool ${pool}.`;
    printResult(context.shell, text, { domain, pool });
  }),
  tracking: onAccount(
    (domainText: string, hostText: string | undefined, options: { readonly off?: boolean }) => {
      if ((hostText === undefined) === (options.off !== true))
        throw new OperatorError('Name a host for tracked links, or use --off.');
      const host = hostText === undefined ? undefined : readName(hostText);
      return async (context) => {
        const { domain } = await findDomain(context, domainText);
        const refusal = host && refuseTrackingHost(host, domain, context.config.publicUrl);
        if (refusal === 'not-below')
          throw new OperatorError(
            `The host must be a subdomain of ${domain}, such as links.${domain}.`,
          );
        if (refusal === 'no-public-url')
          throw new OperatorError('Set PUBLIC_URL first, because the tracking host points to it.');
        await change(context, domain, { trackingHost: host ?? null });
        const found = await findDomain(context, domain);
        await show(context, await openSendingDomains(context), found);
      };
    },
  ),
};

async function change(
  context: AccountContext,
  domain: string,
  settings: Partial<DomainSettings>,
): Promise<void> {
  const { accountId } = context;
  await changeResource(context, commandLine(accountId), {
    ...domainSettings(accountId, domain),
    write: (transaction, before) =>
      saveDomainSettings(transaction, accountId, domain, before, settings),
  }).catch(orNotInAccount(accountId, `sending domain ${domain}`));
}

async function openSendingDomains({
  config,
  database,
  key,
}: CommandContext): Promise<SendingDomains> {
  return new SendingDomains({
    database,
    dns: new DnsClient(chooseDnsServers(config.dnsServers)),
    keys: new DkimKeyStore(await key()),
    service: serviceNames(config),
    log: createLog('silent'),
  });
}

async function show(
  { shell, database }: CommandContext,
  sendingDomains: SendingDomains,
  found: SendingDomain,
): Promise<void> {
  const { domain, state } = found;
  const records = await readRecordFindings(sendingDomains, database.kysely, found);
  const lines = sendingDomains
    .problems()
    .flatMap(({ sentence, nextStep }) => [`${sentence} ${nextStep}`, '']);
  lines.push(`${domain} is ${state}. Publish these records:`);
  for (const { name, type, value, required, why, finding } of records) {
    lines.push('', `${name}. ${type} ${type === 'TXT' ? quote(value) : value}`);
    lines.push(`  ${required ? 'required' : 'not required now'}: ${why}`);
    lines.push(...describe(finding));
  }
  printResult(shell, lines.join('\n'), { domain, state, records });
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

/** @throws OperatorError if the account doesn't have it */
async function findDomain(context: AccountContext, domainText: string): Promise<SendingDomain> {
  const name = readName(domainText);
  const domain = await readSendingDomain(context.database.kysely, context.accountId, name);
  if (domain === undefined) throw notInAccount(context.accountId, `sending domain ${name}`);
  return domain;
}

function readName(text: string): string {
  const name = parseDomainName(text);
  if (name === undefined) throw new OperatorError(`"${text}" is not a valid domain.`);
  return name;
}
