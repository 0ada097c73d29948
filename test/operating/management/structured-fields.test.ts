import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInbox } from '../../support/inbox-client.ts';
import { openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, owner, path, client: sender } = await openSharedShop();

const content = {
  subject: 'Order',
  html: '<p>{{#Items}}[{{Name}} {{currency "EUR" Price}}]{{/Items}}</p>',
  sender: 'orders@shop.test',
  fields: { Items: { kind: 'list', fields: { Name: { sample: 'Pen' } } } },
};

async function publish(id: string, draft: object): Promise<string> {
  const template = `${path}/templates/${id}`;
  await owner.put(template, { name: id });
  await owner.put(`${template}/draft`, draft);
  const published = await owner.post(`${template}/publish`, { force: true });
  assert.equal(published.status, 200, published.text);
  return template;
}

function send(template: string, values: object) {
  return sender.send({
    template,
    body: {
      envelope: { toAddress: 'reader@example.test' },
      content: { personalizationDataMap: values },
      actions: { trackOpens: false, trackClicks: false },
    },
  });
}

test('a preview fills lists with samples, or shows the given items and completes them', async () => {
  const template = await publish('t-preview', content);
  const html = async (body: object) => {
    const { rendered, problems } = (await owner.post(`${template}/preview`, body)).body as {
      rendered: { html: string } | null;
      problems: { message: string }[];
    };
    return rendered?.html ?? problems.map(({ message }) => message).join();
  };
  assert.equal(await html({}), '<p>[Pen €1,234.50][Pen €1,234.50]</p>');
  const Items = [{ Name: 'Ink', Price: '2' }, { Price: '' }];
  assert.equal(await html({ values: { Items } }), '<p>[Ink €2.00][Pen ]</p>');
  assert.equal(await html({ values: { Items: [] } }), '<p></p>');
  assert.equal(await html({ values: { Items: 'x' } }), 'the value of Items must be an array');
  assert.equal(
    await html({ values: { Items: [{ Price: 'two' }] } }),
    'the value of Items[0].Price must be a decimal number, such as 1234.5',
  );
});

test('a version lists the kinds of its fields, those of items, and an example of each', async () => {
  const template = await publish('t-view', content);
  const { fields } = (await owner.get(`${template}/versions/1`)).body;
  const item = { Name: 'Pen', Price: '1234.5' };
  assert.deepEqual(fields, [
    {
      name: 'Items',
      kind: 'list',
      parts: ['html', 'text'],
      required: true,
      secret: false,
      guardDays: null,
      default: null,
      sample: null,
      description: null,
      example: [item, item],
      fields: [
        {
          name: 'Name',
          kind: 'text',
          parts: ['html', 'text'],
          required: true,
          default: null,
          sample: 'Pen',
          description: null,
        },
        {
          name: 'Price',
          kind: 'text',
          parts: ['html', 'text'],
          required: true,
          default: null,
          sample: null,
          description: null,
        },
      ],
    },
  ]);
});

test('a test message takes lists, and refuses what a message could not have', async () => {
  const template = await publish('t-test', content);
  const test = (values: object) =>
    owner.post(`${template}/test-send`, { to: 'tester@example.test', values });
  const refused = await test({ Items: [{ Name: 'a', Price: 'x' }] });
  assert.equal(refused.status, 422);
  assert.equal((refused.body.errors as { field: string }[])[0]?.field, 'values.Items[0].Price');
  assert.equal((await test({ Items: [{ Name: 'Ink', Price: '3' }] })).status, 202);
  const [mail] = await readInbox(service.url, '?to=tester@example.test&wait=60');
  assert.match(mail?.html ?? '', /\[Ink €3\.00\]/);
});

test('a secret list is hidden as a whole, and erased once the message is final', async () => {
  const fields = { Items: { ...content.fields.Items, secret: true } };
  await publish('t-hidden', { ...content, fields });
  const sent = await send('t-hidden', {
    Items: [
      { Name: 'Ink', Price: '3' },
      { Name: 'Pen', Price: '4' },
    ],
  });
  assert.equal(sent.status, 200, sent.text);
  const message = `${path}/messages/${String(sent.body.messageId)}`;
  const seen = (await owner.get(message)).body.content as { values: unknown } | null;
  assert.ok(
    JSON.stringify(seen?.values) === '{"Items":"••••••"}' ||
      JSON.stringify(seen?.values) === '{"Items":null}',
  );
  await waitFor('the erasing', async () => {
    const { content: now } = (await owner.get(message)).body as {
      content: { values: { Items: unknown } };
    };
    return now.values.Items === null;
  });
  const rendered = await owner.get(`${message}/rendered`);
  assert.match(String(rendered.body.html), /<p>\[•••••• ••••••\]<\/p>/);
  assert.equal((await owner.post(`${message}/resend`, {})).status, 409);
});

test('a list is shown in the message, and resent', async () => {
  await publish('t-shown', content);
  const Items = [{ Name: 'Ink', Price: '3' }];
  const sent = await send('t-shown', { Items });
  const message = `${path}/messages/${String(sent.body.messageId)}`;
  const { content: stored } = (await owner.get(message)).body as { content: { values: unknown } };
  assert.deepEqual(stored.values, { Items });
  assert.match(String((await owner.get(`${message}/rendered`)).body.html), /\[Ink €3\.00\]/);
  assert.equal((await owner.post(`${message}/resend`, {})).status, 201);
});

test('publishing names the callers whose items lack a field, or who send another kind', async () => {
  const template = await publish('t-calls', content);
  await send('t-calls', {
    Items: [
      { Name: 'Ink', Price: '3', Sku: 's' },
      { Name: 'Pen', Price: '4' },
    ],
  });
  await waitFor('the call to be noted', async () => {
    const { rows } = await database.pool.query<{ fields: string[] }>(
      "select fields from template_call where template_id = 't-calls'",
    );
    if (rows.length === 0) return false;
    assert.deepEqual(
      rows.map(({ fields }) => fields),
      [['Items', 'Items[]', 'Items[].Name', 'Items[].Price']],
    );
    return true;
  });
  const attempt = async (draft: object) => {
    await owner.put(`${template}/draft`, draft);
    const { status, body } = await owner.post(`${template}/publish`, {});
    return status === 200 ? 'published' : [body.detail, body.missing, body.mismatched];
  };
  const html = content.html.replace('[', '[{{Sku}} ');
  assert.deepEqual(await attempt({ ...content, html }), [
    'Callers in the last 30 days supplied no value for Items[].Sku. Add a default or publish with force',
    ['Items[].Sku'],
    [],
  ]);
  const defaulted = { Items: { kind: 'list', fields: { Sku: { default: '' } } } };
  assert.equal(await attempt({ ...content, html, fields: defaulted }), 'published');
  assert.deepEqual(
    await attempt({ ...content, html: '<p>{{#Items}}x{{/Items}}</p>', fields: {} }),
    [
      'Callers in the last 30 days supplied another kind of value for Items. Keep the kind or publish with force',
      [],
      ['Items'],
    ],
  );
  const asObject = { Items: { kind: 'object' } };
  assert.notEqual(await attempt({ ...content, fields: asObject }), 'published');
});

test('a version that was published before there were helpers is previewed and tested as it is sent', async () => {
  const old = {
    subject: 'Old',
    html: '<p>{{date "long" Due}}</p>',
    sender: 'orders@shop.test',
    fields: {},
  };
  const template = await publish('t-old', old);
  // As the release before stored it.
  await database.pool.query(
    `update template_version set compiled = jsonb_build_object('format', 1, 'subject', '["Old"]'::jsonb,
       'previewText', '[]'::jsonb, 'text', null, 'links', '[]'::jsonb,
       'html', '["<p>", {"type": "field", "name": "date \\"long\\" Due", "as": "html"}, "</p>"]'::jsonb,
       'fields', '[{"name": "date \\"long\\" Due", "parts": ["html"], "secret": false}]'::jsonb,
       'required', '{"subject": [], "previewText": [], "body": ["date \\"long\\" Due"]}'::jsonb)
     where template_id = 't-old'`,
  );
  const values = { 'date "long" Due': 'soon' };
  const preview = await owner.post(`${template}/preview`, { version: 1, values });
  assert.match(String((preview.body.rendered as { html: string }).html), /<p>soon<\/p>/);
  const tested = await owner.post(`${template}/test-send`, { to: 'old@example.test', values });
  assert.equal(tested.status, 202, tested.text);
  const [mail] = await readInbox(service.url, '?to=old@example.test&wait=60');
  assert.match(mail?.html ?? '', /<p>soon<\/p>/);
  const draft = await owner.post(`${template}/preview`, { content: old, values });
  assert.match(String((draft.body.rendered as { html: string }).html), /<p>January 31, 2026<\/p>/);
});
