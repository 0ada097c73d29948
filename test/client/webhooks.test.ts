import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SignalpostEvent, webhooks } from '../../packages/client/src/index.ts';
import { newWebhookSecret, signWebhook } from '../../src/outcomes/webhook/sign-webhook.ts';

const secret = newWebhookSecret();
const event: SignalpostEvent = {
  type: 'message.delivered',
  timestamp: '2026-11-25T04:00:00.000Z',
  data: {
    eventId: '01a210b8-b187-7361-88be-ae3209a56fef',
    messageId: '01a210b8-b187-7361-88be-ae3209a56fee',
    externalId: null,
    templateId: 'receipt',
    tag: null,
    attributes: {},
    recipient: 0,
    address: 'ada@people.test',
    detail: {},
  },
};
const refused = { name: 'WebhookVerificationError' };

test('a request signed by the service is verified, also with both secrets of a rotation', async () => {
  const body = JSON.stringify(event);
  const seconds = Math.floor(Date.now() / 1_000);
  const headers = signWebhook(event.data.eventId, seconds, body, [newWebhookSecret(), secret]);
  assert.deepEqual(await webhooks.verify({ headers, body }, { secret }), event);
  const both = [newWebhookSecret(), secret];
  assert.deepEqual(await webhooks.verify({ headers, body }, { secret: both }), event);
  const request = new Request('https://shop.example/hook', { method: 'POST', headers, body });
  assert.deepEqual(await webhooks.verify(request, { secret }), event);
});

test('a request of Supabase is verified: its secret has a version, and its signatures are a list with commas', async () => {
  const body = '{"user":{"email":"ada@people.test"}}';
  const seconds = Math.floor(Date.now() / 1_000);
  const signed = signWebhook('e-1', seconds, body, [secret, newWebhookSecret()]);
  const headers = {
    ...signed,
    'webhook-signature': String(signed['webhook-signature']).replace(' ', ', '),
  };
  const { user } = await webhooks.verify<{ user: { email: string } }>(
    { headers, body },
    { secret: `v1,${secret}` },
  );
  assert.equal(user.email, 'ada@people.test');
});

test('a changed body, id, time or secret is refused', async () => {
  const { headers, body } = await webhooks.sign(event, secret);
  const attempts = [
    () => webhooks.verify({ headers, body: `${body} ` }, { secret }),
    () => webhooks.verify({ headers: { ...headers, 'webhook-id': 'x' }, body }, { secret }),
    () => webhooks.verify({ headers, body }, { secret: newWebhookSecret() }),
    () =>
      webhooks.verify({ headers: { ...headers, 'webhook-signature': 'v1,!!' }, body }, { secret }),
    () => webhooks.verify({ headers: {}, body }, { secret }),
  ];
  for (const attempt of attempts) await assert.rejects(attempt, refused);
});

test('a parsed, missing or consumed body and an empty secret are refused with what to do', async () => {
  const { headers, body } = await webhooks.sign(event, secret);
  const used = new Request('https://shop.example/hook', { method: 'POST', headers, body });
  await used.text();
  const bodies = [JSON.parse(body), undefined, {}].map((parsed) => ({ headers, body: parsed }));
  for (const request of [...bodies, used])
    await assert.rejects(webhooks.verify(request, { secret }), {
      ...refused,
      message: /the body isn’t raw; pass it as it was received/,
    });
  for (const empty of ['', 'whsec_', undefined as unknown as string])
    await assert.rejects(webhooks.verify({ headers, body }, { secret: empty }), {
      ...refused,
      message: /the secret is empty/,
    });
});

test('a request outside of the tolerance is refused', async () => {
  for (const seconds of [-301, 301]) {
    const at = new Date(Date.now() + seconds * 1_000);
    const { headers, body } = await webhooks.sign(event, secret, at);
    await assert.rejects(webhooks.verify({ headers, body }, { secret }), refused);
    await webhooks.verify({ headers, body }, { secret, tolerance: 400 });
  }
});
