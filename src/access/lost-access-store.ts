import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import { keyScopes, permissions } from './permission.ts';

/** A user whose token sent mail of late, though the role can't send. */
interface LostSender {
  readonly email: string;
  readonly accountId: string;
  readonly role: string;
  readonly clientId: string;
}

/** An API key with scopes that keys can't have. */
interface LostScopes {
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly string[];
}

const maxListed = 100;

/**
 * Marketers and viewers who had tokens of an integration in the last 90 days with which mail was sent in their account.
 * It reads the schema of 0.1.0, too. Which of an integration's users sent a message isn't kept, so it names all of them.
 */
async function findLostSenders(kysely: Database['kysely']): Promise<LostSender[]> {
  const { rows } = await sql<LostSender>`
    select p.email, m.account_id as "accountId", m.role, s.client_id as "clientId"
    from membership m
    join person p on p.id = m.person_id and p.disabled_at is null
    join session_pair s on s.person_id = m.person_id and (s.account_id is null or s.account_id = m.account_id)
    where m.role in ('marketer', 'viewer') and s.changed_at > now() - interval '90 days'
      and exists (select from message sent where sent.account_id = m.account_id and sent.client_id = s.client_id
        and sent.accepted_at > now() - interval '90 days')
    order by m.account_id, p.email, s.client_id limit ${maxListed}`.execute(kysely);
  return rows;
}

/** API keys that were made with scopes that only people have now. */
async function findLostScopes(kysely: Database['kysely']): Promise<LostScopes[]> {
  const peopleOnly = permissions.filter((permission) => !keyScopes.includes(permission));
  const { rows } = await sql<LostScopes>`
    select k.account_id as "accountId", k.name,
      array(select scope from unnest(k.scopes) scope where scope = any(${peopleOnly})) as scopes
    from api_key k where k.scopes && ${peopleOnly} and (k.expires_at is null or k.expires_at > now())
    order by k.account_id, k.name limit ${maxListed}`.execute(kysely);
  return rows;
}

/** What an operator has to change so that programs go on as before; one sentence each. */
export async function describeLostAccess(kysely: Database['kysely']): Promise<string[]> {
  const [senders, keys] = await Promise.all([findLostSenders(kysely), findLostScopes(kysely)]);
  return [
    ...senders.map(
      ({ email, accountId, role, clientId }) =>
        `${email} (${role} in account ${accountId}) had tokens of the integration ${clientId}, which sent mail in the last 90 days. The role ${role} can’t send: give a program’s user the role service, or use an API key.`,
    ),
    ...keys.map(
      ({ accountId, name, scopes }) =>
        `The API key “${name}” of account ${accountId} has ${scopes.join(', ')}, which keys can’t have: do this in the console instead.`,
    ),
  ];
}
