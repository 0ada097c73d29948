import { saveMembership } from '../../src/account/membership-store.ts';
import type { Database } from '../../src/foundation/database/open-database.ts';
import { addKey } from '../../test/support/api-key.ts';
import { SessionWorld } from '../../test/support/session-world.ts';
import { openShop, publishShopTemplate, type Shop } from '../../test/support/shop.ts';
import { openBenchAccount } from '../bench-account.ts';

export interface HostileWorld {
  readonly victim: Shop;
  readonly victimKey: string;
  readonly attacker: Shop;
  readonly attackerKey: string;
  readonly viewerEmail: string;
}

const sending = { scopes: ['messages:send'] } as const;

/** Two accounts; the attacker's templates are expensive. */
export async function openHostileWorld(database: Database): Promise<HostileWorld> {
  const victim = await openBenchAccount(database);
  const attacker = await openShop(database, { id: '46200' });
  const viewer = await new SessionWorld(database, attacker.id).addPerson({ accounts: [] });
  const people = { owner: attacker.owner.id, viewer: viewer.id } as const;
  for (const role of ['owner', 'viewer'] as const)
    await saveMembership(database.kysely, { accountId: attacker.id, personId: people[role], role });
  const repeat = (count: number, make: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => make(at)).join('');
  for (const [id, html] of [
    ['t-sixty', repeat(60, (at) => `<p>{{Field ${at}}}</p>`)],
    ['t-many', repeat(990, (at) => `<p>{{Field ${at % 240}}}</p>`)],
    ['t-links', repeat(400, () => '<a href="{{Link}}?n={{Notes}}">x</a>')],
  ] as const)
    await publishShopTemplate(database, attacker, {
      id,
      sender: 'orders@shop.test',
      source: { subject: 'Subject', previewText: '', html, text: 'x', fields: {} },
    });
  return {
    victim,
    victimKey: await addKey(database, victim.id, sending),
    attacker,
    attackerKey: await addKey(database, attacker.id, sending),
    viewerEmail: viewer.email,
  };
}
