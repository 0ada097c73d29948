import { type RawBuilder, sql } from 'kysely';

/**
 * Whether a person has a second factor: a confirmed authenticator app or a passkey.
 * @param personId an expression with the person's ID
 */
export function hasSecondFactor(personId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(
    exists (select from second_factor f where f.person_id = ${personId} and f.confirmed_at is not null)
    or exists (select from passkey k where k.person_id = ${personId}))`;
}
