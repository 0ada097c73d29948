import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import { keyScopes, permissions } from './permission.ts';

/** A user whose token was recently used to send email, although the role can't send. */
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
 * Finds marketers and viewers who had tokens of an integration that sent email in their account in the last 90 days.
 * Which user of the integration sent a message isn't stored, so it lists all of them. Also works on the schema
 * of 0.1.0.
 */
function findLostSenders(kysely: Kysely): Promise<LostSender[]> {
  return allRows<LostSender>(kysely)`
    select p.email, m.account_id as "accountId", m.role, s.client_id as "clientId"
    from membership m
    join person p on p.id = m.person_id and p.disabled_at is null
    join session_pair s on s.person_id = m.person_id and (s.account_id is null or s.account_id = m.account_id)
    where m.role in ('marketer', 'viewer') and s.changed_at > now() - interval '90 days'
      and exists (select from message sent where sent.account_id = m.account_id and sent.client_id = s.client_id
        and sent.accepted_at > now() - interval '90 days')
    order by m.account_id, p.email, s.client_id limit ${maxListed}`;
}

/** API keys created with scopes that keys can no longer have. */
function findLostScopes(kysely: Kysely): Promise<LostScopes[]> {
  const peopleOnly = permissions.filter((permission) => !keyScopes.includes(permission));
  return allRows<LostScopes>(kysely)`
    select k.account_id as "accountId", k.name,
      array(select scope from unnest(k.scopes) scope where scope = any(${peopleOnly})) as scopes
    from api_key k where k.scopes && ${peopleOnly} and (k.expires_at is null or k.expires_at > now())
    order by k.account_id, k.name limit ${maxListed}`;
}

/** What an operator must change so that programs keep working; one sentence each. */
export async function describeLostAccess(kysely: Kysely): Promise<string[]> {
  const [senders, keys] = await Promise.all([findLostSenders(kysely), findLostScopes(kysely)]);
  return [
    ...senders.map(
      ({ email, accountId, role, clientId }) =>
        `${email} (${role} in account ${accountId}) had tokens of the integration ${clientId}, which sent email in the last 90 days. The role ${role} can’t send: give the program’s user the role service, or use an API key.`,
    ),
    ...keys.map(
      ({ accountId, name, scopes }) =>
        `The API key “${name}” of account ${accountId} has ${scopes.join(', ')}, which keys can’t have: use the console for this instead.`,
    ),
  ];
}
