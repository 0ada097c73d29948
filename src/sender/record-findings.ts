import type { DatabaseTransaction } from '../foundation/database/open-database.ts';
import type { DomainRecord, SendingDomain } from './sending-domain.ts';
import { readFindings, type StoredDomainFinding } from './sending-domain-store.ts';
import type { SendingDomains } from './sending-domains.ts';

/** A record to publish, with the finding of the last check; undefined before the first check. */
export interface RecordWithFinding extends DomainRecord {
  readonly finding: StoredDomainFinding | undefined;
}

/** The records of a domain. Queries run one after the other, because a transaction has a single connection. */
export async function readRecordFindings(
  domains: Pick<SendingDomains, 'records'>,
  kysely: DatabaseTransaction,
  domain: SendingDomain,
): Promise<RecordWithFinding[]> {
  const records = await domains.records(domain, kysely);
  const findings = await readFindings(kysely, domain.accountId, domain.domain);
  return records.map((record) => ({
    ...record,
    finding: findings.find(({ kind, name }) => kind === record.kind && name === record.name),
  }));
}
