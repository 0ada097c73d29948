import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorError } from '../../../src/base/values/errors.ts';
import { classifyTransaction } from '../../../src/sending/delivery/classify-transaction.ts';
import { RelayTransport } from '../../../src/sending/delivery/relay-transport.ts';
import { readSmtpServers } from '../../../src/sending/delivery/smtp-server-settings.ts';
import type { SmtpTimeouts } from '../../../src/sending/delivery/smtp-session.ts';
import type { OutgoingMail, TransactionResult } from '../../../src/sending/delivery/transport.ts';
import { startSink } from '../../support/mail-sink.ts';
import { startRudeServer } from '../../support/rude-server.ts';

/** For servers that reply: long enough for a busy machine. */
const timeouts = {
  connect: 20_000,
  greeting: 20_000,
  command: 20_000,
  data: 20_000,
  final: 20_000,
};
const never = new AbortController().signal;
const password = 'pass word%/&ü';
const to = 'ann@people.test';

function mail(changes: Partial<OutgoingMail> = {}): OutgoingMail {
  const raw = Buffer.from('Subject: x\r\n\r\nbody\r\n');
  return { from: 'shop@shop.test', to, raw, needsSmtpUtf8: false, ...changes };
}

async function send(
  smtpUrl: string,
  message = mail(),
  limits: Partial<SmtpTimeouts> = {},
): Promise<{ result: TransactionResult; outcome: string | undefined; cause: unknown }> {
  const relay = new RelayTransport(readSmtpServers(smtpUrl), {
    timeouts: { ...timeouts, ...limits },
    holdOffMs: 0,
  });
  const result = await relay.send(message, async () => true, never);
  relay.drop();
  const { outcome, detail } = classifyTransaction(result);
  return { result, outcome, cause: detail?.cause };
}

/** Accepts mail only from clients with the password. */
async function startGuarded(methods: string[], secure = false) {
  return startSink({
    options: {
      secure,
      authOptional: false,
      authMethods: methods,
      disabledCommands: [],
      onAuth(auth, _session, callback) {
        const known =
          auth.method === 'CRAM-MD5' ? auth.validatePassword(password) : auth.password === password;
        if (auth.username === 'me@shop.test' && known) callback(null, { user: 'me' });
        else callback(new Error('535 5.7.8 No'));
      },
    },
  });
}

const credentials = `me%40shop.test:${encodeURIComponent(password)}`;

for (const method of ['PLAIN', 'LOGIN', 'CRAM-MD5']) {
  test(`RFC 4954: authenticates by ${method} over STARTTLS, and no transcript shows the credentials`, async () => {
    const sink = await startGuarded([method]);
    const { result, outcome } = await send(
      `smtp://${credentials}@127.0.0.1:${sink.port}?tls=unverified`,
    );
    assert.equal(outcome, 'delivered', JSON.stringify(result));
    const transcript = result.transcript.join('\n');
    assert.match(transcript, /^> STARTTLS$/m);
    assert.match(transcript, new RegExp(`^> AUTH ${method} \\*\\*\\*$`, 'm'));
    for (const secret of [
      password,
      Buffer.from(password).toString('base64'),
      Buffer.from('me@shop.test').toString('base64'),
      Buffer.from(`\0me@shop.test\0${password}`).toString('base64'),
    ])
      assert.ok(!transcript.includes(secret));
  });
}

test('a wrong password is a configuration error: the message waits with the reason', async () => {
  const sink = await startGuarded(['PLAIN']);
  const { outcome, cause } = await send(`smtp://me:wrong@127.0.0.1:${sink.port}?tls=unverified`);
  assert.equal(outcome, 'deferred');
  assert.equal(cause, 'our-credentials');
});

test('with a password, TLS is required and verified: a relay with an unknown certificate gets nothing', async () => {
  const sink = await startGuarded(['PLAIN']);
  const { result, outcome, cause } = await send(`smtp://${credentials}@127.0.0.1:${sink.port}`);
  assert.equal(outcome, 'deferred');
  assert.equal(cause, 'tls');
  assert.doesNotMatch(result.transcript.join('\n'), /AUTH PLAIN \*/);
  assert.equal(sink.mails.length, 0);
});

test('a relay without STARTTLS gets no password', async () => {
  const server = await startRudeServer({ EHLO: () => '250-rude.test\r\n250 AUTH PLAIN' });
  const { outcome, result } = await send(
    `smtp://${credentials}@127.0.0.1:${server.port}`,
    mail(),
    // It doesn't reply to unsupported commands.
    { connect: 400, command: 400 },
  );
  assert.equal(outcome, 'deferred');
  assert.doesNotMatch(result.transcript.join('\n'), /> AUTH/);
});

test('smtps uses TLS from the first byte', async () => {
  const sink = await startGuarded(['PLAIN'], true);
  const url = `smtps://${credentials}@127.0.0.1:${sink.port}`;
  assert.equal((await send(`${url}?tls=unverified`)).outcome, 'delivered');
  assert.equal((await send(url)).cause, 'tls');
});

test('without a password, TLS is used and verified if it is offered', async () => {
  const plain = await startSink();
  assert.equal((await send(`smtp://127.0.0.1:${plain.port}`)).outcome, 'delivered');
  const offered = await startSink({ options: { disabledCommands: ['AUTH'] } });
  const url = `smtp://127.0.0.1:${offered.port}`;
  assert.equal((await send(url)).cause, 'tls');
  const { outcome, result } = await send(`${url}?tls=unverified`);
  assert.match(result.transcript.join('\n'), /> STARTTLS/);
  assert.equal(outcome, 'delivered');
});

test('RFC 1870: a message larger than the relay accepts is rejected before it is sent', async () => {
  const sink = await startSink({ options: { size: 1_000 } });
  const raw = Buffer.from(`Subject: x\r\n\r\n${'x'.repeat(70)}\r\n`.repeat(50));
  const { outcome, cause } = await send(`smtp://127.0.0.1:${sink.port}?tls=off`, mail({ raw }));
  assert.equal(outcome, 'bounced');
  assert.equal(cause, 'size');
});

test('RFC 6531 3.2: a non-ASCII address requires a relay with SMTPUTF8', async () => {
  const message = mail({ needsSmtpUtf8: true });
  const without = await startRudeServer({});
  const refused = await send(`smtp://127.0.0.1:${without.port}`, message);
  assert.equal(refused.outcome, 'bounced');
  assert.equal(refused.cause, 'unsupported');
  const sink = await startSink();
  assert.equal((await send(`smtp://127.0.0.1:${sink.port}?tls=off`, message)).outcome, 'delivered');
});

test('the next relay is tried if one is unreachable, rejects the session or always replies 421', async () => {
  const gone = await startSink();
  await gone.close();
  const closed = await startRudeServer({ greeting: () => '554 Not today' });
  const busy = await startRudeServer({ MAIL: () => '421 4.3.2 Busy' });
  const sink = await startSink();
  const urls = [gone, closed, busy, sink].map(({ port }) => `smtp://127.0.0.1:${port}?tls=off`);
  const { outcome, result } = await send(urls.join(' '));
  assert.equal(outcome, 'delivered');
  assert.equal(sink.mails.length, 1);
  const attempts = result.transcript.filter((line) => line.startsWith('* relay'));
  assert.equal(attempts.length, 4);
});

test('a relay’s reply about a message is final, and no message is sent through two relays', async () => {
  const sink = await startSink();
  const refusing = await startRudeServer({ RCPT: () => '550 5.1.1 Unknown' });
  const silent = await startRudeServer({ dot: () => 'hang up' });
  const second = `smtp://127.0.0.1:${sink.port}?tls=off`;
  const refused = await send(`smtp://127.0.0.1:${refusing.port} ${second}`);
  assert.equal(refused.outcome, 'bounced');
  const uncertain = await send(`smtp://127.0.0.1:${silent.port} ${second}`);
  assert.equal(uncertain.outcome, 'uncertain');
  assert.equal(sink.mails.length, 0);
});

test('invalid settings give a one-sentence message that never contains the password', () => {
  for (const text of [
    'http://user:hunter2@relay.test',
    'smtp://user:hunter2@',
    'smtp://user:hunter2@relay.test?tls=maybe',
    'smtp://user:hunter2@relay.test?connections=0',
    'smtp://user:hunter2@relay.test?verify=no',
    'smtp://user:hunter2%@relay.test',
    'smtps://user:hunter2@relay.test?tls=off',
    'smtp://ok.test smtp://user:hunter2@relay.test?auth=NTLM',
  ]) {
    assert.throws(
      () => readSmtpServers(text),
      (error) => error instanceof OperatorError && !error.message.includes('hunter2'),
      text,
    );
  }
});

test('RFC 6531 3.4: SMTPUTF8 is announced if only the header fields need it, and for no other message', async () => {
  const announced: unknown[] = [];
  const sink = await startSink({
    options: {
      disabledCommands: ['AUTH', 'STARTTLS'],
      onMailFrom(address, _session, callback) {
        announced.push(address.args && 'SMTPUTF8' in address.args);
        callback();
      },
    },
  });
  const relay = new RelayTransport(readSmtpServers(`smtp://127.0.0.1:${sink.port}`), { timeouts });
  const raw = Buffer.from('Subject: Grüße\r\n\r\nbody\r\n');
  const utf8 = mail({ raw, needsSmtpUtf8: true });
  const toUtf8 = { ...utf8, to: 'grüße@people.test' };
  for (const message of [utf8, mail(), toUtf8]) {
    const { end } = await relay.send(message, async () => true, never);
    assert.equal(end.kind === 'reply' && end.reply.code, 250);
  }
  relay.drop();
  assert.deepEqual(announced, [true, false, true]);
});
