import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import { newId, type PersonId } from '../../foundation/ids.ts';
import type { Locale } from '../../outbox/system-mail.ts';

/** A browser that somebody signed in with. */
export interface BrowserSession {
  readonly id: string;
  readonly personId: PersonId;
  readonly email: string;
  readonly name: string;
  /** False while the second factor is missing. */
  readonly complete: boolean;
}

/** A session as its owner sees it in the list. */
export interface ListedBrowserSession {
  readonly id: string;
  readonly createdAt: Date;
  readonly remoteAddress: string;
  readonly userAgent: string;
}

export interface NewBrowserSession {
  readonly hash: Buffer;
  readonly personId: PersonId;
  readonly complete: boolean;
  readonly seconds: number;
  readonly remoteAddress: string;
  readonly userAgent: string;
  /** Becomes the person's where none was chosen. */
  readonly locale: Locale;
}

/** Browser sessions in the database; nothing of them is cached, so ending one takes effect at once on every node. */
export class BrowserSessionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async create(session: NewBrowserSession): Promise<void> {
    await sql`
      with language as (
        update person set locale = ${session.locale}
        where id = ${session.personId} and locale is null and ${session.complete}::boolean)
      insert into browser_session (hash, id, person_id, complete, created_at, expires_at, remote_address, user_agent)
      select ${session.hash}, ${newId()}, ${session.personId}, ${session.complete}, at,
        at + ${session.seconds} * interval '1 s', ${session.remoteAddress}, ${session.userAgent}
      from (select now() as at) moment`.execute(this.#database.kysely);
  }

  async find(hash: Buffer): Promise<BrowserSession | undefined> {
    const { rows } = await sql<{
      id: string;
      person_id: PersonId;
      email: string;
      name: string;
      complete: boolean;
    }>`
      select s.id, s.person_id, p.email, p.name, s.complete
      from browser_session s join person p on p.id = s.person_id and p.disabled_at is null
      where s.hash = ${hash} and s.expires_at > now()`.execute(this.#database.kysely);
    const [row] = rows;
    return (
      row && {
        id: row.id,
        personId: row.person_id,
        email: row.email,
        name: row.name,
        complete: row.complete,
      }
    );
  }

  async end(hash: Buffer): Promise<void> {
    await sql`delete from browser_session where hash = ${hash}`.execute(this.#database.kysely);
  }

  /** The complete sessions of a person that have not expired, newest first. */
  async list(personId: PersonId): Promise<ListedBrowserSession[]> {
    const { rows } = await sql<{
      id: string;
      created_at: Date;
      remote_address: string;
      user_agent: string;
    }>`
      select id, created_at, remote_address, user_agent from browser_session
      where person_id = ${personId} and complete and expires_at > now()
      order by created_at desc, id`.execute(this.#database.kysely);
    return rows.map((row) => ({
      id: row.id,
      createdAt: row.created_at,
      remoteAddress: row.remote_address,
      userAgent: row.user_agent,
    }));
  }

  /** Ends a session by its id, where it is this person's. */
  async endById(personId: PersonId, id: string): Promise<boolean> {
    const { rows } = await sql`
      delete from browser_session where person_id = ${personId} and id::text = ${id} returning 1`.execute(
      this.#database.kysely,
    );
    return rows.length === 1;
  }
}
