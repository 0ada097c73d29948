import type { DatabaseTransaction } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { SendingDomain, WarmUpSchedule } from './sending-domain.ts';
import {
  readSendingDomain,
  setSourcePool,
  setTrackingHost,
  setWarmUp,
} from './sending-domain-store.ts';

/** The editable settings of a domain, as opposed to its DNS records and their state. */
export interface DomainSettings {
  /** Null: tracked links carry the host of the service. */
  readonly trackingHost: string | null;
  readonly sourcePool: string;
  readonly warmUp: WarmUpSchedule | null;
}

export function settingsOfDomain(domain: SendingDomain): DomainSettings {
  const { trackingHost = null, sourcePool, warmUp = null } = domain;
  return { trackingHost, sourcePool, warmUp };
}

/** The settings of a domain, as what changes them reads them. */
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

/** Changes what is given and differs from what was before; what is left out stays. */
export async function saveDomainSettings(
  transaction: DatabaseTransaction,
  accountId: AccountId,
  domain: string,
  before: DomainSettings | undefined,
  { trackingHost, sourcePool, warmUp }: Partial<DomainSettings>,
): Promise<void> {
  const place = [transaction, accountId, domain] as const;
  if (sourcePool !== undefined && sourcePool !== before?.sourcePool)
    await setSourcePool(...place, sourcePool);
  if (warmUp !== undefined) await setWarmUp(...place, warmUp ?? undefined);
  // The same host keeps what its last check found.
  if (trackingHost !== undefined && trackingHost !== before?.trackingHost)
    await setTrackingHost(...place, trackingHost ?? undefined);
}

/** Why a host cannot be that of a domain's tracked links; undefined where it can. */
export function refuseTrackingHost(
  host: string | undefined,
  domain: string,
  publicUrl: string | undefined,
): 'not-below' | 'no-public-url' | undefined {
  if (host?.endsWith(`.${domain}`) !== true) return 'not-below';
  return publicUrl === undefined ? 'no-public-url' : undefined;
}
