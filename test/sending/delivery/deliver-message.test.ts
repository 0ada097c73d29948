import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { createDelivery } from '../../../src/sending/delivery/deliver-message.ts';
import { SmtpPool } from '../../../src/sending/delivery/smtp-pool.ts';
import { inboxServer } from '../../../src/sending/delivery/smtp-server-settings.ts';
import { DeliveryWorld } from '../../support/delivery-world.ts';
import { startSink } from '../../support/mail-sink.ts';
import { plainDelivery } from '../../support/plain-delivery.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await DeliveryWorld.create();
afterEach(() => world.close());

test('an accepted message is claimed, rendered, sent and delivered, and leaves the queue', async () => {
  const sink = await startSink();
  const worker = world.deliverTo(sink.port);
  const id = await world.accept({ cc: ['bob@people.test'] });
  worker.wake('a1' as never);
  await waitFor('the queue entry to go', async () => (await world.entry(id)) === undefined);
  const [mail] = sink.mails;
  assert.ok(mail);
  assert.equal(mail.from, 'orders@shop.test');
  assert.match(mail.source, /^Subject: Hello Ann\r?$/m);
  assert.match(mail.source, new RegExp(`^Message-ID: <${id}@shop.test>\\r?$`, 'm'));
  const events = await world.events(id);
  assert.deepEqual(events.map(({ kind, recipient }) => [kind, recipient]).sort(), [
    ['delivered', 0],
    ['delivered', 1],
  ]);
});

test('the transcript of an attempt is stored without addresses and without the message', async () => {
  const sink = await startSink();
  world.deliverTo(sink.port);
  const id = await world.accept({ to: 'carl@people.test' });
  await world.waitForState(id, 'delivered');
  const [event] = await world.events(id);
  const transcript = event?.detail.transcript as string[];
  assert.ok(transcript.includes('> RCPT TO:<to>'), transcript.join('\n'));
  assert.ok(transcript.some((line) => line.startsWith('> EHLO client.test')));
  assert.ok(transcript.some((line) => line.startsWith('< 354')));
  assert.doesNotMatch(JSON.stringify(event), /carl|Hello Ann/);
});

test('values of secret fields are erased once the message is final; their names stay', async () => {
  const sink = await startSink();
  world.deliverTo(sink.port);
  const id = await world.accept();
  await world.waitForState(id, 'delivered');
  const content = await world.content(id);
  assert.deepEqual(content.values, { Name: 'Ann', Link: null });
});

test('a rejected recipient bounces at once, with the reply and its cause', async () => {
  const sink = await startSink({ onRcpt: () => '550 5.1.1 No such user here' });
  world.deliverTo(sink.port);
  const id = await world.accept();
  await world.waitForState(id, 'bounced');
  assert.equal(await world.entry(id), undefined);
  const [event] = await world.events(id);
  assert.equal(event?.detail.cause, 'no-mailbox');
  assert.equal(event?.detail.reply, '550 5.1.1 No such user here');
});

test('a rejected cc never fails the To and is retried separately', async () => {
  let open = false;
  const sink = await startSink({
    onRcpt: (address) =>
      address.startsWith('bob') && !open ? '450 4.2.1 Mailbox busy, try later' : undefined,
  });
  world.deliverTo(sink.port);
  const id = await world.accept({ cc: ['bob@people.test', 'cy@people.test'] });
  await world.waitForState(id, 'delivered');
  const entry = await world.waitUntilIdle(id);
  assert.equal(entry.recipient, 1);
  assert.match(entry.reason ?? '', /450 4.2.1/);
  open = true;
  await world.clock.advance(entry.due_in * 1_000 + 1_000);
  await waitFor('the queue entry to go', async () => (await world.entry(id)) === undefined);
  assert.deepEqual(sink.mails.map(({ to }) => to.join()).sort(), [
    'ann@people.test',
    'bob@people.test',
    'cy@people.test',
  ]);
  assert.equal(new Set(sink.mails.map(({ source }) => source)).size, 1);
});

test('each recipient has a transaction of its own, with the same bytes', async () => {
  const sink = await startSink();
  world.deliverTo(sink.port);
  const id = await world.accept({ cc: ['bob@people.test', 'cy@else.test'] });
  await waitFor('the queue entry to go', async () => (await world.entry(id)) === undefined);
  assert.deepEqual(sink.mails.map(({ to }) => to.join()).sort(), [
    'ann@people.test',
    'bob@people.test',
    'cy@else.test',
  ]);
  assert.equal(new Set(sink.mails.map(({ source }) => source)).size, 1);
  const events = await world.events(id);
  assert.deepEqual(
    events.map(({ kind, recipient, detail }) => [kind, recipient, detail.attempt]).sort(),
    [
      ['delivered', 0, 1],
      ['delivered', 1, 1],
      ['delivered', 2, 1],
    ],
  );
});

test('RFC 5321 4.5.3.1.10: a recipient that is refused with 452 is deferred', async () => {
  for (const [address, reply] of [
    ['bob', '452 4.2.2 Mailbox full'],
    ['ann', '452 4.5.3 Too many recipients'],
  ] as const) {
    let refusals = 0;
    const sink = await startSink({
      onRcpt: (to) => {
        if (!to.startsWith(address)) return undefined;
        refusals += 1;
        return reply;
      },
    });
    world.deliverTo(sink.port);
    const id = await world.accept(address === 'ann' ? {} : { cc: ['bob@people.test'] });
    await waitFor('the other recipient', async () => (await world.entries(id)).length === 1);
    await world.waitUntilIdle(id);
    assert.equal(refusals, 1);
    await world.close();
  }
});

test('a temporary reply defers with a next attempt time and a reason, and the next attempt sends the same bytes', async () => {
  let open = false;
  const sources: string[] = [];
  const sink = await startSink({
    onMessage: (mail) => {
      sources.push(mail.source);
      return open ? undefined : '451 4.3.0 Local problem';
    },
  });
  world.deliverTo(sink.port);
  const id = await world.accept();
  await world.waitForState(id, 'deferred');
  const entry = await world.waitUntilIdle(id);
  assert.ok(entry.due_in > 55 && entry.due_in < 80, `due in ${entry.due_in}`);
  assert.match(entry.reason ?? '', /451 4.3.0 Local problem/);
  open = true;
  await world.clock.advance(80_000);
  await world.waitForState(id, 'delivered');
  assert.equal(sources.length, 2);
  assert.equal(sources[0], sources[1]);
});

test('an unreachable server is a temporary failure', async () => {
  const sink = await startSink();
  await sink.close();
  world.deliverTo(sink.port);
  const id = await world.accept();
  await world.waitForState(id, 'deferred');
  const entry = await world.waitUntilIdle(id);
  assert.match(entry.reason ?? '', /could not connect to the server/);
  assert.ok(entry.due_in <= 13);
});

test('a message whose rendering throws fails alone and is held for review; the next one is sent', async () => {
  const sink = await startSink();
  world.deliverTo(sink.port);
  const broken = await world.accept({ subjectLine: '{{#Name}} never closed' });
  const sound = await world.accept();
  await world.waitForState(broken, 'failed');
  await world.waitForState(sound, 'delivered');
  const entry = await world.waitUntilIdle(broken);
  assert.equal(entry.due_in, Number.POSITIVE_INFINITY);
  assert.equal(entry.held, true);
  assert.match(entry.reason ?? '', /can’t be rendered/);
});

test('DELIVERY_REDIRECT sends everything to one address, and shows the original recipients', async () => {
  const sink = await startSink();
  world.deliverTo(sink.port, {
    staging: { redirect: 'staging@team.test', allow: [] },
  });
  const id = await world.accept({ cc: ['bob@people.test'] });
  await world.waitForState(id, 'delivered');
  await waitFor('the queue entry to go', async () => (await world.entry(id)) === undefined);
  assert.equal(sink.mails.length, 2, 'a copy for each recipient');
  for (const { to, source } of sink.mails) {
    assert.deepEqual(to, ['staging@team.test']);
    assert.match(source, /^X-Signalpost-Original-To: ann@people.test, bob@people.test/m);
  }
  const redirected = (await world.events(id)).filter(({ kind }) => kind === 'redirected');
  assert.deepEqual(redirected.map(({ recipient }) => recipient).sort(), [0, 1]);
});

test('an attempt that is redirected later says so too', async () => {
  const sink = await startSink();
  const id = await world.accept();
  // The first attempt was lost, as when its worker is killed.
  await world.database.pool.query('update queued_delivery set attempts = 1 where message_id = $1', [
    id,
  ]);
  world.deliverTo(sink.port, { staging: { redirect: 'staging@team.test', allow: [] } });
  await world.waitForState(id, 'delivered');
  assert.ok((await world.events(id)).some(({ kind }) => kind === 'redirected'));
});

test('a message whose template version is gone can be canceled', async () => {
  const delivery = createDelivery({
    ...plainDelivery,
    findVersion: () => undefined,
    transport: new SmtpPool(inboxServer(1)),
    staging: { redirect: undefined, allow: [] },
    log: world.log,
  });
  const id = await world.accept();
  await world.database.pool.query(
    'update queued_delivery set canceled = true where message_id = $1',
    [id],
  );
  world.worker(delivery).start();
  await world.waitForState(id, 'canceled');
  await waitFor('the queue entry to go', async () => (await world.entry(id)) === undefined);
});

test('DELIVERY_ALLOW holds messages to other domains visibly', async () => {
  const sink = await startSink();
  world.deliverTo(sink.port, {
    staging: { redirect: undefined, allow: ['team.test'] },
  });
  const held = await world.accept();
  const sent = await world.accept({ to: 'me@team.test', cc: ['ann@people.test'] });
  await world.waitForState(held, 'canceled');
  await world.waitForState(sent, 'delivered');
  assert.equal((await world.events(held))[0]?.detail.reason, 'held back by DELIVERY_ALLOW');
  assert.deepEqual(
    sink.mails.map(({ to }) => to),
    [['me@team.test']],
  );
});

test('a message that must not be late expires at the end of its freshness window', async () => {
  const sink = await startSink({ onMessage: () => '451 4.3.0 Local problem' });
  world.deliverTo(sink.port);
  const id = await world.accept({ deliverWhenDelayed: false, lifetime: 30 });
  await world.waitForState(id, 'deferred');
  const entry = await world.waitUntilIdle(id);
  assert.ok(entry.due_in <= 30);
  await world.clock.advance(31_000);
  await world.waitForState(id, 'expired');
  assert.equal(await world.entry(id), undefined);
});

test('messages of an account suspended after acceptance are kept until the suspension ends', async () => {
  const sink = await startSink();
  const suspended = 'held' as never;
  await world.addAccount(suspended);
  await world.database.pool.query("update account set suspended_at = now() where id = 'held'");
  const id = await world.accept({ account: suspended });
  const worker = world.deliverTo(sink.port);
  worker.wake(suspended);
  const other = await world.accept();
  await world.waitForState(other, 'delivered');
  assert.equal(await world.state(id), 'queued');
  await world.database.pool.query("update account set suspended_at = null where id = 'held'");
  await world.waitForState(id, 'delivered');
});

test('an identity is released for a recipient whom no server was reached for, so that its daily share is not used up', async () => {
  let unused = 0;
  const start = (port: number): void => {
    const attempt = createDelivery({
      ...plainDelivery,
      findVersion: () => world.template,
      transport: new SmtpPool(inboxServer(port), { holdOffMs: 0 }),
      staging: { redirect: undefined, allow: [] },
      log: world.log,
      findIdentity: async () => ({
        sign: (raw) => raw,
        returnPath: () => 'b@shop.test',
        release: () => {
          unused += 1;
        },
      }),
    });
    world.worker(attempt).start();
  };
  start(1);
  const id = await world.accept();
  await world.waitForState(id, 'deferred');
  await world.waitUntilIdle(id);
  assert.equal(unused, 1);
  await world.close();
  await world.database.pool.query(
    'update queued_delivery set due_at = now() where message_id = $1',
    [id],
  );
  const sink = await startSink();
  start(sink.port);
  await world.waitForState(id, 'delivered');
  assert.equal(unused, 1);
  await world.close();
  const ascii = await startSink({ options: { hideSMTPUTF8: true } });
  start(ascii.port);
  // Refused here, before a server is asked.
  const refused = await world.accept({ to: 'josé@people.test', cc: ['bob@people.test'] });
  await world.waitForState(refused, 'bounced');
  await waitFor('the queue entry to go', async () => (await world.entry(refused)) === undefined);
  assert.equal(unused, 2);
});

test('RFC 6531 3.2: on a server without SMTPUTF8, a non-ASCII cc bounces alone; the To gets the message', async () => {
  const sink = await startSink({ options: { hideSMTPUTF8: true } });
  world.deliverTo(sink.port);
  const id = await world.accept({ cc: ['josé@people.test', 'bob@people.test'] });
  await world.waitForState(id, 'delivered');
  await waitFor('the queue entry to go', async () => (await world.entry(id)) === undefined);
  const events = await world.events(id);
  assert.deepEqual(events.map(({ kind, recipient }) => `${kind} ${recipient}`).sort(), [
    'bounced 1',
    'delivered 0',
    'delivered 2',
  ]);
  assert.equal(events.find(({ kind }) => kind === 'bounced')?.detail.cause, 'unsupported');
  assert.deepEqual(sink.mails.map(({ to }) => to.join()).sort(), [
    'ann@people.test',
    'bob@people.test',
  ]);
  for (const mail of sink.mails) assert.doesNotMatch(mail.source, /[^\0-\x7f]/);
});

test('with SMTPUTF8, a non-ASCII cc gets the message with its real address; others get an all-ASCII message', async () => {
  const sink = await startSink();
  world.deliverTo(sink.port);
  const id = await world.accept({ cc: ['josé@people.test'] });
  await world.waitForState(id, 'delivered');
  await waitFor('the queue entry to go', async () => (await world.entry(id)) === undefined);
  const [plain, wide] = ['ann@people.test', 'josé@people.test'].map((address) =>
    sink.mails.find(({ to }) => to.join() === address),
  );
  assert.doesNotMatch(plain?.source ?? '', /[^\0-\x7f]/);
  assert.match(wide?.source ?? '', /^Cc: josé@people\.test\r$/m);
  const [idOfPlain, idOfWide] = [plain, wide].map(
    (mail) => /^Message-ID: .*/m.exec(mail?.source ?? '')?.[0],
  );
  assert.equal(idOfPlain, idOfWide);
});
