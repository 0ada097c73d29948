import { sql } from 'kysely';
import { readEmails } from '../../account/person-store.ts';
import { hasSecondFactor } from '../../account/second-factor-sql.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../../foundation/ids.ts';

/** What an account has that sending needs; each only counts if it really works. */
export interface SendReadiness {
  /** A verified sender. */
  readonly sender: boolean;
  /** A published template whose sender is verified. */
  readonly template: boolean;
  /** A key that can send, or an integration with which someone can get a token that can. */
  readonly key: boolean;
  /** A message of a program was accepted; test messages don’t count. */
  readonly message: boolean;
}

/** Whether a program has, or can get, what it needs to send. Tokens of the password grant need a user without second factor. */
export async function canProgramsSend(
  kysely: Database['kysely'],
  accountId: AccountId,
): Promise<boolean> {
  const { rows } = await sql<{ can: boolean }>`select
    exists (select from api_key k
      where k.account_id = ${accountId} and 'messages:send' = any (k.scopes) and (k.expires_at is null or k.expires_at > now()))
    or exists (select from integration i
      where i.account_id = ${accountId} and i.disabled_at is null and 'authorization_code' = any (i.grants))
    or exists (select from integration i
      where i.account_id = ${accountId} and i.disabled_at is null and 'password' = any (i.grants)
        and exists (select from membership m join person p on p.id = m.person_id
          where m.account_id = ${accountId} and m.role in ('owner', 'developer', 'service')
            and p.password_hash is not null and p.disabled_at is null
            and not ${hasSecondFactor(sql.ref('p.id'))})) as can`.execute(kysely);
  return rows[0]?.can === true;
}

export async function readSendReadiness(
  kysely: Database['kysely'],
  accountId: AccountId,
): Promise<SendReadiness> {
  const creators = await readEmails(kysely, await readCreators(kysely, accountId));
  const { rows } = await sql<Omit<SendReadiness, 'key'>>`
    select
      exists (select from sender where account_id = ${accountId} and verified_at is not null) as sender,
      exists (select from template t
        join template_version v
          on v.account_id = ${accountId} and v.template_id = t.id and v.version = t.published_version
        left join unnest(${[...creators.keys()]}::uuid[], ${[...creators.values()]}::text[]) as p (id, email)
          on p.id = t.created_by
        join sender s on s.account_id = ${accountId} and s.address = coalesce(v.sender_address, p.email)
        where t.account_id = ${accountId} and t.removed_at is null and s.verified_at is not null) as template,
      exists (select from message where account_id = ${accountId} and client_id <> 'console') as message`.execute(
    kysely,
  );
  const [readiness] = rows;
  if (readiness === undefined) throw new Error('the select returned no row');
  return { ...readiness, key: await canProgramsSend(kysely, accountId) };
}

/** Whose address is the sender of a published template without one of its own. */
async function readCreators(
  kysely: Database['kysely'],
  accountId: AccountId,
): Promise<(PersonId | null)[]> {
  const { rows } = await sql<{ id: PersonId | null }>`
    select distinct created_by as id from template
    where account_id = ${accountId} and removed_at is null and published_version is not null`.execute(
    kysely,
  );
  return rows.map(({ id }) => id);
}
