import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { type AccountId, newId } from '../../../src/base/values/ids.ts';
import { ShapingStore } from '../../../src/sending/delivery/shaping/shaping-store.ts';
import { SmtpPool } from '../../../src/sending/delivery/smtp-pool.ts';
import { inboxServer } from '../../../src/sending/delivery/smtp-server-settings.ts';
import { DeliveryWorld } from '../../support/delivery-world.ts';
import { acceptMany, startDirectNode } from '../../support/direct-world.ts';
import { type RudeServer, type RudeSteps, startRudeServer } from '../../support/rude-server.ts';
import { TestDns } from '../../support/test-dns.ts';
import { waitFor } from '../../support/wait-for.ts';

const limit = 5;
const messages = 200;
const world = await DeliveryWorld.create();
const zones = await new TestDns().start();
const store = new ShapingStore(world.database, newId(), Date.now);

interface LimitedServer {
  /** Messages accepted in a session before it was refused another one. */
  readonly refusedAt: number[];
  readonly server: RudeServer;
}

/** A server that accepts a number of messages per connection and then misbehaves as given. */
async function startLimited(steps: (limitReached: (socket: Socket) => boolean) => RudeSteps) {
  const messageCounts = new Map<Socket, number>();
  const counted = { refusedAt: [] as number[] };
  const limitReached = (socket: Socket): boolean => {
    const count = (messageCounts.get(socket) ?? 0) + 1;
    messageCounts.set(socket, count);
    if (count <= limit) return false;
    counted.refusedAt.push(server.dots);
    return true;
  };
  const server = await startRudeServer(steps(limitReached));
  return Object.assign(counted, { server });
}

/** Sends many messages to it from two nodes at an already learned rate, until all are delivered. */
async function deliverTo(domain: string, { server }: LimitedServer): Promise<void> {
  const name = `hosts-${domain}`;
  zones.set(domain, { MX: [[10, `mx.${name}`]] }).set(`mx.${name}`, { A: ['127.0.0.1'] });
  await world.database.pool.query(
    'insert into destination (name, label, rate, good, connections, version) values ($1, $1, 200, 200, 10, 1)',
    [name],
  );
  const nodes = [1, 2].map(() => startDirectNode(world, zones, server.port, 50));
  after(() => Promise.all(nodes.map((node) => node.stop())));
  await acceptMany(world, 'a1' as AccountId, domain, messages);
  await waitFor('every message', () => server.dots >= messages, 30_000);
  await waitFor('every outcome', async () => (await openMessages(domain)) === 0);
  await Promise.all(nodes.map((node) => node.stop()));
}

async function openMessages(domain: string): Promise<number> {
  const { rows } = await world.database.pool.query<{ count: number }>(
    `select count(*)::int as count from message
     where state <> 'delivered' and content ->> 'to' like '%@' || $1`,
    [domain],
  );
  return rows[0]?.count ?? -1;
}

for (const [what, domain, steps] of [
  [
    'says 421 and why',
    'named.test',
    (limitReached) => ({
      MAIL: (socket) =>
        limitReached(socket) ? '421 4.7.0 Too many messages in this connection' : undefined,
    }),
  ],
  [
    'says 421 and nothing more',
    'nameless.test',
    (limitReached) => ({
      MAIL: (socket) =>
        limitReached(socket) ? '421 4.3.2 Closing transmission channel' : undefined,
    }),
  ],
  [
    'hangs up',
    'silent.test',
    (limitReached) => ({ MAIL: (socket) => (limitReached(socket) ? 'hang up' : undefined) }),
  ],
  [
    'says 452 and stays',
    'staying.test',
    (limitReached) => ({
      MAIL: (socket) =>
        limitReached(socket) ? '452 4.5.3 Unavailable, batch limit reached' : undefined,
    }),
  ],
  [
    'refuses the recipient',
    'recipient.test',
    (limitReached) => ({
      RCPT: (socket) =>
        limitReached(socket) ? '451 Too many messages for this session' : undefined,
    }),
  ],
] as const satisfies [string, string, (limitReached: (socket: Socket) => boolean) => RudeSteps][]) {
  test(`RFC 5321 3.8: a server that ${what} after ${limit} messages per connection loses no message, and its limit is soon respected`, async (t) => {
    const counted = await startLimited(steps);
    await deliverTo(domain, counted);
    assert.equal(counted.server.dots, messages);
    const late = counted.refusedAt.filter((taken) => taken > messages / 2).length;
    t.diagnostic(`${counted.refusedAt.length} refused, ${late} in the second half`);
    assert.ok(counted.refusedAt.length <= 25, `${counted.refusedAt.length}`);
    assert.ok(late <= (messages / 2) * 0.02, `${late}`);
    const known = (await store.list()).find(({ name }) => name === `hosts-${domain}`);
    assert.equal(known?.throttle.session?.maxMessages, limit);
    assert.notEqual(known?.throttle.session?.reason, '');
    assert.equal(known?.throttle.slowedAt, undefined);
    const { rows } = await world.database.pool.query(
      `select from message_event e join message m on m.account_id = e.account_id and m.id = e.message_id
       where e.kind = 'deferred' and m.content ->> 'to' like '%@' || $1::text`,
      [domain],
    );
    assert.equal(rows.length, 0);
  });
}

test('an override of the messages per connection replaces the learned limit', async () => {
  const counted = await startLimited((limitReached) => ({
    MAIL: (socket) =>
      limitReached(socket) ? '421 Too many messages in this connection' : undefined,
  }));
  await world.database.pool.query(
    `insert into destination (name, label, rate, good, connections, version, override_session_messages)
     values ('hosts-fixed.test', 'x', 200, 200, 10, 1, 3)`,
  );
  zones.set('fixed.test', { MX: [[10, 'mx.hosts-fixed.test']] });
  zones.set('mx.hosts-fixed.test', { A: ['127.0.0.1'] });
  const node = startDirectNode(world, zones, counted.server.port, 20);
  after(() => node.stop());
  await acceptMany(world, 'a1' as AccountId, 'fixed.test', 30);
  await waitFor('every message', () => counted.server.dots >= 30);
  assert.equal(counted.refusedAt.length, 0);
  assert.ok(counted.server.connections >= 10, `${counted.server.connections}`);
});

test('a server that ends a session right after accepting a message lowers the limit of the next session', async () => {
  const dots = new Map<Socket, number>();
  const server = await startRudeServer({
    dot: (socket) => {
      const taken = (dots.get(socket) ?? 0) + 1;
      dots.set(socket, taken);
      if (taken < 3) return undefined;
      socket.end('250 2.0.0 Taken\r\n421 4.7.0 Too many messages in this session\r\n');
      return 'silence';
    },
  });
  const pool = new SmtpPool(inboxServer(server.port));
  const mail = {
    from: 'a@b.test',
    to: 'c@d.test',
    raw: Buffer.from('\r\n'),
    needsSmtpUtf8: false,
  };
  const ends = [];
  for (let count = 0; count < 8; count += 1) {
    const { end, sessionEnds } = await pool.send(
      mail,
      async () => true,
      new AbortController().signal,
    );
    assert.ok(end.kind === 'reply' && end.reply.code === 250);
    ends.push(...(sessionEnds ?? []));
  }
  pool.drop();
  assert.equal(server.dots, 8);
  assert.deepEqual(
    ends.map(({ kind, after }) => [kind, after]),
    [
      ['refused', 3],
      ['full', 3],
    ],
  );
});
