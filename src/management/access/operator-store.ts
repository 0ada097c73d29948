import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { PersonId } from '../../foundation/ids.ts';

type Kysely = Database['kysely'];

/**
 * Whether a person looks after the installation: somebody who was named operator or, where nobody was, who owns every
 * account; so an installation that one team uses for itself needs no further rank, and one that is shared by strangers
 * gives none of them power over the others.
 */
export async function isOperator(kysely: Kysely, personId: PersonId): Promise<boolean> {
  const { rows } = await sql<{ operates: boolean }>`
    select p.operator or (
        not exists (select from person where operator and disabled_at is null)
        and exists (select from account where not system)
        and not exists (
          select from account a where not a.system and not exists (
            select from membership m where m.account_id = a.id and m.person_id = p.id and m.role = 'owner'))) as operates
    from person p where p.id = ${personId} and p.disabled_at is null`.execute(kysely);
  return rows[0]?.operates === true;
}

export interface SetUpState {
  /** The installation waits for its first owner: it has no people, or only those of the demo. */
  readonly open: boolean;
  /** The demo is there. */
  readonly demo: boolean;
}

export async function readSetUpState(kysely: Kysely): Promise<SetUpState> {
  const { rows } = await sql<SetUpState>`
    with has as (
      select exists (select from person) as people,
        exists (select from installation where demo_applied_at is not null) as demo)
    select has.demo and has.people as demo,
      not has.people or has.demo and not exists (select from person where operator) as open
    from has`.execute(kysely);
  return rows[0] ?? { open: false, demo: false };
}
