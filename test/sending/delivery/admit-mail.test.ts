import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitMail } from '../../../src/sending/delivery/admit-mail.ts';
import type { OutgoingMail, Transport } from '../../../src/sending/delivery/transport.ts';

const mail: OutgoingMail = { from: 'f@x.test', to: [], raw: Buffer.alloc(0), needsSmtpUtf8: false };
const outline = (to: readonly string[]) => ({ to, urgent: false });
const never = new AbortController().signal;

/** A destination with one slot, as a rate limiter admits; the addresses in `waiting` have to wait. */
function oneSlot(waiting: readonly string[] = []) {
  const asked: string[][] = [];
  let taken = false;
  const transport: Transport = {
    async admit({ to }) {
      asked.push([...to]);
      if (taken) throw new Error('the message waits for a slot that it holds itself');
      if (to.some((address) => waiting.includes(address)))
        return { transactions: [], postponed: [{ to, delayMs: 1_000, reason: 'throttled' }] };
      taken = true;
      const free = () => {
        taken = false;
      };
      const send = async () => {
        free();
        const reply = { code: 250, enhanced: undefined, text: 'OK' };
        const end = { kind: 'reply', stage: 'final', reply } as const;
        return { refused: new Map(), end, server: 's', transcript: [] };
      };
      return { transactions: [{ to, send, cancel: free }], postponed: [] };
    },
    drop: () => undefined,
    close: async () => undefined,
  };
  return { transport, asked };
}

test('Bcc recipients get permission one after another, so a message never blocks itself', async () => {
  const { transport, asked } = oneSlot();
  const to = ['to@a.test', 'b1@a.test', 'cc@a.test', 'b2@a.test'];
  const { transactions } = await admitMail(transport, outline(to), ['b1@a.test', 'b2@a.test']);
  assert.deepEqual(asked, [['to@a.test', 'cc@a.test']]);
  for (const transaction of transactions) {
    const { end } = await transaction.send(mail, async () => true, never);
    assert.equal(end.kind, 'reply');
  }
  assert.deepEqual(
    transactions.map((transaction) => transaction.to),
    [['to@a.test', 'cc@a.test'], ['b1@a.test'], ['b2@a.test']],
  );
});

test('a Bcc recipient that must wait is deferred with the reason, and the others are sent', async () => {
  const { transport } = oneSlot(['b1@a.test']);
  const to = ['to@a.test', 'b1@a.test', 'b2@a.test'];
  const { transactions } = await admitMail(transport, outline(to), ['b1@a.test', 'b2@a.test']);
  const kinds: string[] = [];
  for (const transaction of transactions) {
    const { end } = await transaction.send(mail, async () => true, never);
    kinds.push(end.kind === 'fault' ? `${end.fault}: ${end.text}` : end.kind);
  }
  assert.deepEqual(kinds, ['reply', 'limit: throttled', 'reply']);
});

test('if the visible recipients have to wait, the first Bcc recipient is asked about next', async () => {
  const { transport, asked } = oneSlot(['to@a.test']);
  const to = ['to@a.test', 'b1@a.test', 'b2@a.test'];
  const admission = await admitMail(transport, outline(to), ['b1@a.test', 'b2@a.test']);
  assert.deepEqual(asked, [['to@a.test'], ['b1@a.test']]);
  assert.equal(admission.postponed.length, 1);
  assert.deepEqual(
    admission.transactions.map((transaction) => transaction.to),
    [['b1@a.test'], ['b2@a.test']],
  );
});

test('without Bcc, a message is admitted at once', async () => {
  const { transport, asked } = oneSlot();
  await admitMail(transport, outline(['to@a.test', 'cc@b.test']));
  assert.deepEqual(asked, [['to@a.test', 'cc@b.test']]);
});
