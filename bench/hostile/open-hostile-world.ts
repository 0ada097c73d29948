import { saveMembership } from '../../src/account/membership-store.ts';
import type { Database } from '../../src/foundation/database/open-database.ts';
import { addKey } from '../../test/support/api-key.ts';
import { SessionWorld } from '../../test/support/session-world.ts';
import { openShop, publishShopTemplate, type Shop } from '../../test/support/shop.ts';
import { openBenchAccount } from '../bench-account.ts';

/** Two accounts that don't trust each other. */
export interface HostileWorld {
  readonly victim: Shop;
  readonly victimKey: string;
  readonly attacker: Shop;
  readonly attackerKey: string;
  readonly viewerEmail: string;
}

export async function openHostileWorld(database: Database): Promise<HostileWorld> {
  const victim = await openBenchAccount(database);
  const attacker = await openShop(database, { id: '46200' });
  const { kysely } = database;
  const viewer = await new SessionWorld(database, attacker.id).addPerson({ accounts: [] });
  for (const [personId, role] of [
    [attacker.owner.id, 'owner'],
    [viewer.id, 'viewer'],
  ] as const)
    await saveMembership(kysely, { accountId: attacker.id, personId, role });
  for (const [id, html] of [
    ['t-sixty', repeat(60, (at) => `<p>{{Field ${at}}}</p>`)],
    ['t-many', repeat(990, (at) => `<p>{{Field ${at % 240}}}</p>`)],
    ['t-links', '<a href="{{Link}}?n={{Notes}}">x</a>'.repeat(400)],
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

const sending = { scopes: ['messages:send'] } as const;

function repeat(count: number, make: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => make(at)).join('');
}
