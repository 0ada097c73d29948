import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { SendingDomain } from './sending-domain.ts';
import {
  changeSendingDomain,
  type DomainSettings,
  readSendingDomain,
} from './sending-domain-store.ts';

export function settingsOfDomain(domain: SendingDomain): DomainSettings {
  const { trackingHost = null, sourcePool, warmUp = null } = domain;
  return { trackingHost, sourcePool, warmUp };
}

/** Describes the settings of a domain for the code that changes them. */
export function domainSettings(accountId: AccountId, domain: string) {
  return {
    kind: 'domain',
    id: domain,
    mustExist: true,
    async read(transaction: DatabaseTransaction): Promise<DomainSettings | undefined> {
      const found = await readSendingDomain(transaction, accountId, domain);
      return found && settingsOfDomain(found);
    },
  };
}

/** Saves the given settings if they differ from `before`; omitted ones stay unchanged. */
export async function saveDomainSettings(
  transaction: DatabaseTransaction,
  accountId: AccountId,
  domain: string,
  before: DomainSettings | undefined,
  { trackingHost, sourcePool, warmUp }: Partial<DomainSettings>,
): Promise<void> {
  await changeSendingDomain(transaction, accountId, domain, {
    sourcePool,
    warmUp,
    // An unchanged host keeps the finding of its last check.
    trackingHost: trackingHost === before?.trackingHost ? undefined : trackingHost,
  });
}

/** Why a host can't be the tracking host of a domain; undefined if it can. */
export function refuseTrackingHost(
  host: string | undefined,
  domain: string,
  publicUrl: string | undefined,
): 'not-below' | 'no-public-url' | undefined {
  if (host?.endsWith(`.${domain}`) !== true) return 'not-below';
  return publicUrl === undefined ? 'no-public-url' : undefined;
}
