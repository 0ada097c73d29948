import { channel } from 'node:diagnostics_channel';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import { newId } from '../../base/values/ids.ts';

/** The origin of a request as recorded in the audit log. */
export interface RequestOrigin {
  readonly remoteAddress: string;
  readonly requestId: string;
}

/** A changed member of a resource, with its values. */
export interface AuditChange {
  readonly name: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** A security-relevant event: who, what, from where, outcome. Never contains a secret. */
export interface AuditEvent {
  readonly kind: string;
  /** `success` by default. */
  readonly outcome?: 'success' | 'refused' | undefined;
  readonly personId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly origin: RequestOrigin;
  readonly detail?: Readonly<Record<string, string | number | boolean | readonly AuditChange[]>>;
}

/** An event recorded by this process, perhaps in a transaction that will be rolled back. */
export interface RecordedEvent extends AuditEvent {
  readonly id: string;
}

/** Gets each `RecordedEvent`. A channel, so that code recording an event needs no log. */
export const recordedEvents = channel('signalpost.audit');

/**
 * Writes an event to the audit log.
 * @param kysely may be a transaction, so that an event is committed together with the change it records
 */
export async function recordAuditEvent(kysely: Kysely, event: AuditEvent): Promise<void> {
  const { kind, outcome = 'success', origin } = event;
  const id = newId();
  await run(kysely)`
    insert into audit_event (id, kind, outcome, person_id, client_id, account_id, remote_address, request_id, detail)
    values (${id}, ${kind}, ${outcome}, ${event.personId ?? null}, ${event.clientId ?? null},
      ${event.accountId ?? null}, ${origin.remoteAddress}, ${origin.requestId}, ${JSON.stringify(event.detail ?? {})})`;
  recordedEvents.publish({ ...event, id, outcome } satisfies RecordedEvent);
}

/** When events were recorded, by ID; excludes events of uncommitted transactions. */
export async function findRecorded(
  kysely: Kysely,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const rows = await allRows<{ id: string; at: Date }>(kysely)`
    select id, at from audit_event where id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ id, at }) => [id, at]));
}
