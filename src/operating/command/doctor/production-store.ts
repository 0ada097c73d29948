import { sql } from 'kysely';
import { hasSecondFactor } from '../../../accounts/account/second-factor-sql.ts';
import type { Database } from '../../../base/database/open-database.ts';
import { allRows } from '../../../base/database/statements.ts';

/** The sending domains of all accounts. */
export interface DomainStates {
  readonly verified: number;
  /** Names of the others. */
  readonly other: readonly string[];
}

export async function readDomainStates({ pool }: Database): Promise<DomainStates | undefined> {
  const { rows } = await pool.query<DomainStates>(
    `select count(*) filter (where state = 'verified')::int as verified,
       coalesce(array_agg(domain order by domain) filter (where state <> 'verified'), '{}') as other
     from sending_domain`,
  );
  return rows[0];
}

/** Operators and owners without a second factor. @returns at most `limit` addresses, in order */
export async function listPasswordOnly({ kysely }: Database, limit: number): Promise<string[]> {
  const rows = await allRows<{ email: string }>(kysely)`
    select distinct p.email from person p
    left join membership m on m.person_id = p.id and m.role = 'owner'
    where (p.operator or m.person_id is not null) and not ${hasSecondFactor(sql`p.id`)}
    order by p.email limit ${limit}`;
  return rows.map(({ email }) => email);
}

/** For example 18.4. */
export async function readServerVersion({ pool }: Database): Promise<string | undefined> {
  const { rows } = await pool.query<{ server_version: string }>('show server_version');
  return rows[0]?.server_version.split(' ')[0];
}
