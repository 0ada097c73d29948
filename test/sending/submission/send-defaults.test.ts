import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyWith } from '../../support/send-client.ts';
import { addSender, publishShopTemplate } from '../../support/shop.ts';
import { openSharedShop } from '../../support/test-shop.ts';

const { database, shop, client } = await openSharedShop({ worker: false });
await addSender(database, shop.id, shop.owner.email, { displayNames: ['*', 'The Owner'] });
await addSender(database, shop.id, 'bare@shop.test');
await publishShopTemplate(database, shop, { id: 't-creator', freshnessSeconds: 120 });

interface Stored {
  readonly content: Record<string, unknown>;
  readonly [column: string]: unknown;
}

/** Sends a message and reads its stored row and queue entry. */
async function store(changes: Parameters<typeof bodyWith>[0], template?: string): Promise<Stored> {
  const body = bodyWith(changes);
  const messageId = await client.accept({ body, ...(template !== undefined && { template }) });
  const { rows } = await database.pool.query<Stored>(
    'select * from message where account_id = $1 and id = $2',
    [shop.id, messageId],
  );
  assert.ok(rows[0] !== undefined);
  return rows[0];
}

test('2.2: omitted members come from the template or stay absent; given ones are stored unchanged', async () => {
  const { content, ...row } = await store({});
  assert.deepEqual(content, {
    to: 'reader@example.test',
    from: { address: 'orders@shop.test', name: 'Demo Shop' },
    values: { 'Order Number': 'A-1001' },
  });
  assert.deepEqual(
    {
      transactional: row.transactional,
      tag: row.tag,
      external: row.external_id,
      late: row.deliver_when_delayed,
      opens: row.track_opens,
      clicks: row.track_clicks,
      version: row.template_version,
      days: row.retention_days,
    },
    {
      transactional: false,
      tag: null,
      external: null,
      late: true,
      opens: true,
      clicks: true,
      version: 1,
      days: 90,
    },
  );
});

test('2.2: every given member is stored', async () => {
  const { content, ...row } = await store({
    envelope: {
      toAddress: 'Reader.Name@EXAMPLE.test',
      ccAddressList: ['one@example.test', 'zwei@müller.test'],
      fromAddress: 'bare@shop.test',
      replyToAddress: 'orders@shop.test',
    },
    content: {
      subjectLine: 'S {{Order Number}}',
      previewText: 'P',
      personalizationDataMap: { 'Order Number': 'é😀"\\', extra: '' },
    },
    metadata: { transactional: true, externalId: 'x-1', tagList: ['tag one'] },
    actions: { trackOpens: false, trackClicks: false, deliveryWhenDelayed: 'False' },
  });
  assert.deepEqual(content, {
    to: 'Reader.Name@example.test',
    cc: ['one@example.test', 'zwei@xn--mller-kva.test'],
    from: { address: 'bare@shop.test' },
    replyTo: 'orders@shop.test',
    subjectLine: 'S {{Order Number}}',
    previewText: 'P',
    values: { 'Order Number': 'é😀"\\', extra: '' },
  });
  assert.deepEqual(
    [
      row.transactional,
      row.external_id,
      row.tag,
      row.track_opens,
      row.track_clicks,
      row.deliver_when_delayed,
    ],
    [true, 'x-1', 'tag one', false, false, false],
  );
});

test('2.2: without a sender in the request and the template, From is the template’s creator', async () => {
  const { content } = await store({}, 't-creator');
  assert.deepEqual(content.from, { address: shop.owner.email, name: 'The Owner' });
});

test('empty strings, an empty map as a list and empty groups mean "not given"', async () => {
  const { content, ...row } = await store({
    envelope: { ccAddressList: [], fromAddress: '', fromDisplayName: '', replyToAddress: '' },
    content: { subjectLine: '', previewText: '' },
    metadata: { externalId: '', tagList: [] },
    actions: { deliveryWhenDelayed: '' },
  });
  assert.deepEqual(content, {
    to: 'reader@example.test',
    from: { address: 'orders@shop.test', name: 'Demo Shop' },
    values: { 'Order Number': 'A-1001' },
  });
  assert.deepEqual([row.external_id, row.tag, row.deliver_when_delayed], [null, null, true]);
  await publishShopTemplate(database, shop, {
    id: 't-none',
    sender: 'orders@shop.test',
    source: { subject: 'Hello', html: '<p>Hello</p>', previewText: '' },
  });
  const none = await store({ content: { personalizationDataMap: [] } }, 't-none');
  assert.deepEqual(none.content.values, {});
});

test('null is not "not given"', async () => {
  for (const [group, field] of [
    ['envelope', 'fromAddress'],
    ['content', 'subjectLine'],
    ['metadata', 'transactional'],
    ['actions', 'deliveryWhenDelayed'],
  ] as const) {
    const response = await client.send({ body: bodyWith({ [group]: { [field]: null } }) });
    assert.equal(response.body.errorName, 'VALIDATION_FAILED', field);
  }
});

test('deliveryWhenDelayed is TRUE or FALSE in any case; FALSE ends the message with the template’s freshness', async () => {
  for (const [given, late] of [
    ['TRUE', true],
    ['true', true],
    ['FALSE', false],
    ['fAlSe', false],
  ] as const) {
    const { id, ...row } = await store({ actions: { deliveryWhenDelayed: given } }, 't-creator');
    assert.equal(row.deliver_when_delayed, late, given);
    const { rows } = await database.pool.query<{ seconds: number }>(
      `select extract(epoch from q.expires_at - m.accepted_at)::int as seconds
       from queued_delivery q join message m on m.account_id = q.account_id and m.id = q.message_id
       where m.account_id = $1 and m.id = $2`,
      [shop.id, id],
    );
    assert.equal(rows[0]?.seconds, late ? 48 * 3600 : 120);
  }
});

test('a stored transactional message is due at once, in the partition of its week, before non-transactional ones', async () => {
  const { id } = await store({ metadata: { transactional: true } });
  const { rows } = await database.pool.query<{ partition: string }>(
    'select tableoid::regclass::text as partition from message where account_id = $1 and id = $2',
    [shop.id, id],
  );
  assert.match(rows[0]?.partition ?? '', /^message_90_\d{8}$/);
});
