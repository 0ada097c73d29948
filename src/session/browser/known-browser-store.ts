import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import { comparableAddress } from '../../foundation/email-address.ts';
import type { PersonId } from '../../foundation/ids.ts';

/** How a person proved who they are: on their own (password, passkey, mailed link), or by a provider, which is named. */
export type BrowserProof = 'own' | 'installation' | `account ${string}`;

/** Browsers known for each person and proof; the one used longest ago is forgotten for an eleventh. */
const maxBrowsers = 10;
const knownDays = 180;

type Kysely = Database['kysely'];

export async function isKnownBrowser(
  kysely: Kysely,
  email: string,
  proof: BrowserProof,
  hash: Buffer,
): Promise<boolean> {
  const { rows } = await sql`
    select from known_browser b join person p on p.id = b.person_id
    where p.email = ${comparableAddress(email)} and b.proven_by = ${proof} and b.hash = ${hash}
      and b.last_used_at > now() - ${knownDays} * interval '1 day'`.execute(kysely);
  return rows.length > 0;
}

export async function saveKnownBrowser(
  kysely: Kysely,
  personId: PersonId,
  proof: BrowserProof,
  hash: Buffer,
): Promise<void> {
  await sql`
    insert into known_browser (person_id, proven_by, hash) values (${personId}, ${proof}, ${hash})
    on conflict (person_id, proven_by, hash) do update set last_used_at = now()`.execute(kysely);
  await sql`
    delete from known_browser where person_id = ${personId} and proven_by = ${proof} and hash not in (
      select hash from known_browser where person_id = ${personId} and proven_by = ${proof}
      order by last_used_at desc, hash limit ${maxBrowsers})`.execute(kysely);
}
