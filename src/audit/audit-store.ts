import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import { newId } from '../foundation/ids.ts';

/** Where a request came from, as the audit log keeps it. */
export interface RequestOrigin {
  readonly remoteAddress: string;
  readonly requestId: string;
}

/** A security-relevant event: who, what, from where, outcome. Never carries a secret. */
export interface AuditEvent {
  readonly kind: string;
  readonly outcome: 'success' | 'refused';
  readonly personId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly origin: RequestOrigin;
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
}

/** Writes the audit log. */
export class AuditStore {
  readonly #database: Pick<Database, 'kysely'>;

  /** @param database or a transaction in its place, so that an event is committed with what it tells of */
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
