import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import { newId } from '../foundation/ids.ts';

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
  readonly outcome: 'success' | 'refused';
  readonly personId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly origin: RequestOrigin;
  readonly detail?: Readonly<Record<string, string | number | boolean | readonly AuditChange[]>>;
}

/** Writes the audit log. */
export class AuditStore {
  readonly #database: Pick<Database, 'kysely'>;

  /** @param database may be a transaction, so that an event is committed together with the change it records */
  constructor(database: Pick<Database, 'kysely'>) {
    this.#database = database;
  }

  async record(event: AuditEvent): Promise<void> {
    const { kind, outcome, origin } = event;
    await sql`
      insert into audit_event (id, kind, outcome, person_id, client_id, account_id, remote_address, request_id, detail)
      values (${newId()}, ${kind}, ${outcome}, ${event.personId ?? null}, ${event.clientId ?? null},
        ${event.accountId ?? null}, ${origin.remoteAddress}, ${origin.requestId}, ${JSON.stringify(event.detail ?? {})})`.execute(
      this.#database.kysely,
    );
  }
}
