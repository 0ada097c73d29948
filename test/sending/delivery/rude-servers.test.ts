import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { classifyTransaction } from '../../../src/sending/delivery/classify-transaction.ts';
import { SmtpPool } from '../../../src/sending/delivery/smtp-pool.ts';
import { inboxServer } from '../../../src/sending/delivery/smtp-server-settings.ts';
import type { SmtpTimeouts } from '../../../src/sending/delivery/smtp-session.ts';
import type { OutgoingMail, TransactionResult } from '../../../src/sending/delivery/transport.ts';
import { type RudeSteps, startRudeServer } from '../../support/rude-server.ts';
import { waitFor } from '../../support/wait-for.ts';

/** For servers that reply: long enough for a busy machine. */
const timeouts = {
  connect: 20_000,
  greeting: 20_000,
  command: 20_000,
  data: 20_000,
  final: 20_000,
};
/** For the step to which a server never replies; the other steps keep their timeout. */
const short = 400;
/** Long enough for a server's output to arrive. */
const late = async () => {
  await delay(500);
  return true;
};
const granted = async () => true;
const never = new AbortController().signal;

function mail(): OutgoingMail {
  const raw = Buffer.from('Subject: x\r\n\r\n.dot first\r\nbody\r\n');
  return { from: 'shop@shop.test', to: 'ann@people.test', raw, needsSmtpUtf8: false };
}

async function deliverThrough(
  steps: RudeSteps,
  releaseDot = granted,
  limits: Partial<SmtpTimeouts> = {},
): Promise<{ result: TransactionResult; outcome: string | undefined; dots: number }> {
  const server = await startRudeServer(steps);
  const pool = new SmtpPool(inboxServer(server.port), {
    timeouts: { ...timeouts, ...limits },
    holdOffMs: 0,
  });
  const result = await pool.send(mail(), releaseDot, never);
  pool.drop();
  const { outcome } = classifyTransaction(result);
  return { result, outcome, dots: server.dots };
}

async function* slowly(text: string): AsyncGenerator<string> {
  for (const character of text) {
    yield character;
    await delay(100);
  }
}

/** The timeout to shorten for a server that is silent at a step; EHLO is part of connecting. */
function shortTimeoutAt(step: 'EHLO' | 'MAIL' | 'RCPT' | 'DATA'): Partial<SmtpTimeouts> {
  return step === 'EHLO' ? { connect: short, command: short } : { command: short };
}

test('a server that never sends a greeting is a temporary failure', async () => {
  const silent = await deliverThrough({ greeting: () => 'silence' }, granted, {
    connect: short,
    greeting: short,
  });
  assert.equal(silent.outcome, 'deferred');
});

test('a 554 greeting rejects the connection, not the message: a temporary failure', async () => {
  const { result, outcome } = await deliverThrough({ greeting: () => '554 No SMTP service here' });
  assert.equal(outcome, 'deferred');
  assert.equal(result.end.kind === 'reply' && result.end.reply.code, 554);
});

for (const step of ['EHLO', 'MAIL', 'RCPT', 'DATA'] as const) {
  test(`a server that doesn’t reply to ${step} is a temporary failure`, async () => {
    const silent = await deliverThrough({ [step]: () => 'silence' }, granted, shortTimeoutAt(step));
    assert.equal(silent.outcome, 'deferred');
  });

  test(`a server that disconnects at ${step} is a temporary failure`, async () => {
    assert.equal((await deliverThrough({ [step]: () => 'hang up' })).outcome, 'deferred');
  });

  test(`421 at ${step} is a temporary failure`, async () => {
    assert.equal((await deliverThrough({ [step]: () => '421 4.3.2 Closing' })).outcome, 'deferred');
  });
}

test('5yz at RCPT is a permanent failure', async () => {
  assert.equal((await deliverThrough({ RCPT: () => '550 5.1.1 Unknown' })).outcome, 'bounced');
});

test('a server that disconnects in the middle of the text has no message: a temporary failure', async () => {
  const { outcome, dots } = await deliverThrough({ text: () => 'hang up' }, late);
  assert.equal(outcome, 'deferred');
  assert.equal(dots, 0);
});

test('a reply before the final dot ends the connection without a dot', async () => {
  const early = await deliverThrough({ text: () => '250 2.0.0 Taken already' }, late);
  assert.equal(early.outcome, 'deferred');
  assert.equal(early.dots, 0);
  const refused = await deliverThrough({ text: () => '552 5.3.4 Too big' }, late);
  assert.equal(refused.outcome, 'bounced');
  assert.equal(refused.dots, 0);
});

test('a disconnect after the final dot is uncertain', async () => {
  const { outcome, dots } = await deliverThrough({ dot: () => 'hang up' });
  assert.equal(outcome, 'uncertain');
  assert.equal(dots, 1);
});

test('no reply to the final dot is uncertain', async () => {
  const silent = await deliverThrough({ dot: () => 'silence' }, granted, { final: short });
  assert.equal(silent.outcome, 'uncertain');
});

test('a 4yz or 5yz reply to the final dot is conclusive', async () => {
  assert.equal((await deliverThrough({ dot: () => '421 4.3.2 Closing' })).outcome, 'deferred');
  assert.equal((await deliverThrough({ dot: () => '554 5.7.1 Spam' })).outcome, 'bounced');
});

test('a denied dot drops the connection, and the server never sees the end of the message', async () => {
  const { result, dots } = await deliverThrough({}, async () => false);
  assert.equal(result.end.kind, 'lost');
  await delay(50);
  assert.equal(dots, 0);
});

test('a dot that cannot be recorded is not sent', async () => {
  const { result, dots } = await deliverThrough({}, async () => {
    throw new Error('database gone');
  });
  assert.notEqual(result.end.kind, 'uncertain');
  assert.equal(dots, 0);
});

test('a reply sent byte by byte does not extend the timeout of a step', async () => {
  const reply = '250 2.1.0 Ok, and much more to say about it\r\n';
  let written = 0;
  const { outcome } = await deliverThrough(
    {
      MAIL: (socket) => {
        void (async () => {
          for await (const character of slowly(reply)) {
            if (socket.destroyed) return;
            socket.write(character);
            written += 1;
          }
        })();
        return 'silence';
      },
    },
    granted,
    { command: short },
  );
  assert.equal(outcome, 'deferred');
  assert.ok(written < reply.length, 'given up before the reply was whole');
});

test('a reply of 100 kB is valid, and truncated to the stored length', async () => {
  const { result, outcome } = await deliverThrough({
    dot: () => `250 2.0.0 ${'x'.repeat(100_000)}`,
  });
  assert.equal(outcome, 'delivered');
  assert.ok(JSON.stringify(result.transcript).length < 5_000);
  assert.ok(result.end.kind === 'reply' && result.end.reply.text.length <= 1_000);
});

test('a reply of 10,000 lines is valid, and truncated to the stored length', async () => {
  const lines = `${'250-2.0.0 more\r\n'.repeat(9_999)}250 2.0.0 Taken`;
  const { result, outcome } = await deliverThrough({ dot: () => lines });
  assert.equal(outcome, 'delivered');
  assert.ok(result.transcript.length < 100);
});

test('an endless reply is abandoned: uncertain after the dot', async () => {
  const { outcome } = await deliverThrough({ dot: () => '250-2.0.0 more\r\n'.repeat(100_000) });
  assert.equal(outcome, 'uncertain');
});

test('a server that does not speak SMTP is a temporary failure', async () => {
  const { outcome } = await deliverThrough({ greeting: () => 'HTTP/1.1 400 Bad Request' });
  assert.equal(outcome, 'deferred');
});

test('a connection closed while idle does no harm: the message uses a new one', async () => {
  let first = true;
  const server = await startRudeServer({
    MAIL: (socket) => {
      if (first) {
        first = false;
        return undefined;
      }
      if (!used.has(socket)) return undefined;
      return 'hang up';
    },
    dot: (socket) => {
      used.add(socket);
      return undefined;
    },
  });
  const used = new Set<unknown>();
  const pool = new SmtpPool(inboxServer(server.port), { timeouts });
  for (let count = 0; count < 3; count += 1) {
    const { end } = await pool.send(mail(), granted, never);
    assert.equal(end.kind === 'reply' && end.reply.code, 250);
  }
  assert.equal(server.dots, 3);
  assert.equal(server.connections, 3);
  pool.drop();
});

test('connections are reused, limited in number, and renewed after a number of messages', async () => {
  const server = await startRudeServer({});
  const settings = { ...inboxServer(server.port), connections: 2, messagesPerConnection: 5 };
  const pool = new SmtpPool(settings, { timeouts });
  const results = await Promise.all(
    Array.from({ length: 20 }, () => pool.send(mail(), granted, never)),
  );
  assert.ok(results.every(({ end }) => end.kind === 'reply' && end.reply.code === 250));
  assert.equal(server.dots, 20);
  assert.equal(server.connections, 4);
  pool.drop();
});

test('groups take turns when several wait for a connection', async () => {
  const server = await startRudeServer({});
  const pool = new SmtpPool({ ...inboxServer(server.port), connections: 1 }, { timeouts });
  const order: string[] = [];
  const send = async (group: string): Promise<void> => {
    await pool.send({ ...mail(), group }, granted, never);
    order.push(group);
  };
  await Promise.all(['flood', 'flood', 'flood', 'flood', 'single'].map(send));
  assert.deepEqual(order, ['flood', 'flood', 'single', 'flood', 'flood']);
  pool.drop();
});

test('a server that stops leaves no message waiting for a connection', {
  timeout: 30_000,
}, async () => {
  const sockets: Socket[] = [];
  let isBusy = false;
  const server = await startRudeServer({
    greeting: (socket) => {
      sockets.push(socket);
      return sockets.length === 1 ? undefined : 'hang up';
    },
    MAIL: () => {
      isBusy = true;
      return 'silence';
    },
  });
  const settings = { ...inboxServer(server.port), connections: 2 };
  const pool = new SmtpPool(settings, { timeouts, holdOffMs: 20_000 });
  const send = () => pool.send(mail(), granted, never);
  const first = send();
  await waitFor('a busy connection', () => isBusy);
  const [second, ...others] = Array.from({ length: 5 }, send);
  await second;
  sockets[0]?.destroy();
  for (const { end } of await Promise.all([first, ...others])) assert.equal(end.kind, 'fault');
  assert.equal(server.connections, 2);
});

test('an unused connection closes with QUIT', async () => {
  const server = await startRudeServer({});
  const pool = new SmtpPool(inboxServer(server.port), { timeouts, idle: 20 });
  await pool.send(mail(), granted, never);
  await delay(200);
  await pool.send(mail(), granted, never);
  assert.equal(server.connections, 2);
  pool.drop();
});

for (const [form, ehlo] of [
  ['one by one', '250-rude.test\r\n250 8BITMIME'],
  ['pipelined', '250-rude.test\r\n250 PIPELINING'],
] as const)
  for (const [ending, data] of [
    ['DATA is refused, too', '503 5.5.1 RCPT first'],
    ['its connection is lost', 'hang up'],
  ] as const)
    test(`RFC 5321 3.3: a refused recipient keeps its reply if ${ending} (commands ${form})`, async () => {
      const { result, outcome } = await deliverThrough({
        EHLO: () => ehlo,
        RCPT: () => '550 5.1.1 No such user',
        DATA: () => data,
      });
      assert.equal(outcome, 'bounced');
      assert.equal(classifyTransaction(result).detail?.cause, 'no-mailbox');
    });

test('RFC 2920 3.1: after a refused MAIL, the reply to a pipelined recipient says nothing', async () => {
  const { result, outcome } = await deliverThrough({
    EHLO: () => '250-rude.test\r\n250 PIPELINING',
    MAIL: () => '451 4.7.1 Later',
    RCPT: () => '550 5.5.1 MAIL first',
    DATA: () => '503 5.5.1 MAIL first',
  });
  assert.equal(outcome, 'deferred');
  assert.match(classifyTransaction(result).reason, /451 4\.7\.1/);
});
