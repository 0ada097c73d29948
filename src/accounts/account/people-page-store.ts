import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { PersonId } from '../../base/values/ids.ts';
import type { Role } from './account.ts';

/** A person, as shown to operators. */
export interface PersonFacts {
  readonly id: PersonId;
  readonly email: string;
  readonly name: string;
  readonly operator: boolean;
  readonly disabled: boolean;
  readonly accounts: readonly { readonly accountId: string; readonly role: Role }[];
}

/** People of the installation, ordered by address, or the one with the given address. */
export function readPeople(
  kysely: Kysely,
  filter: {
    readonly email?: string;
    readonly contains?: string | undefined;
    readonly operator?: boolean | undefined;
    readonly after?: string;
    readonly limit?: number;
  },
): Promise<PersonFacts[]> {
  const { email = null, contains = null, operator = null, after = '', limit = 1 } = filter;
  return allRows<PersonFacts>(kysely)`
    select p.id, p.email, p.name, p.operator, p.disabled_at is not null as disabled,
      coalesce((select json_agg(json_build_object('accountId', m.account_id, 'role', m.role) order by m.account_id)
        from membership m where m.person_id = p.id), '[]') as accounts
    from person p
    where p.email > ${after} and (${email}::text is null or p.email = ${email})
      and (${operator}::boolean is null or p.operator = ${operator})
      and (${contains}::text is null or position(lower(${contains}) in p.email) > 0
        or position(lower(${contains}) in lower(p.name)) > 0)
    order by p.email limit ${limit}`;
}
