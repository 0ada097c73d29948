import type { Database } from '../../src/base/database/open-database.ts';
import { newId, type PersonId } from '../../src/base/values/ids.ts';

/** Gives a person a passkey, which nobody can use: as if they had added one while signed in. */
export async function addPasskey({ pool }: Database, personId: PersonId): Promise<void> {
  await pool.query(
    `insert into passkey (id, person_id, credential_id, public_key, sign_count, transports, name, created_at)
     values ($1, $2, $3, '', 0, '{}', 'Key', now())`,
    [newId(), personId, Buffer.from(personId)],
  );
}
