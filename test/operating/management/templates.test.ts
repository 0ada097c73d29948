import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../src/accounts/access/permission.ts';
import { maxSourceText } from '../../../src/operating/manifest/manifest-schema.ts';
import { deleteTrialVersions } from '../../../src/outcomes/retention/delete-old-store.ts';
import { addKey } from '../../support/api-key.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { bodyWith } from '../../support/send-client.ts';
import type { TextResponse } from '../../support/send-request.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const managed = await openTestShop();
const { database, service, owner, path, client: sender } = managed;

const template = `${path}/templates/t-new`;
const content = {
  subject: 'Hello {{Name}}',
  html: '<p>Hello {{Name}}</p>',
  sender: 'orders@shop.test',
  fields: { Name: { sample: 'Ann' } },
};

test('a template is drafted, previewed, published, changed and rolled back', async () => {
  assert.equal((await owner.put(template, { name: 'New' })).status, 201);
  assert.equal((await owner.post(`${template}/publish`, {})).status, 409);
  const draft = await owner.put(`${template}/draft`, content);
  assert.equal(draft.status, 201, draft.text);
  const preview = await owner.post(`${template}/preview`, { values: { Name: '<Bob>' } });
  const rendered = preview.body.rendered as Record<string, unknown>;
  assert.equal(rendered.subject, 'Hello <Bob>');
  assert.match(String(rendered.html), /Hello &lt;Bob&gt;/);
  assert.match(String(rendered.text), /Hello <Bob>/);
  const [field] = preview.body.fields as Record<string, unknown>[];
  assert.equal(field?.required, true);
  assert.ok((preview.body.hints as { rule: string }[]).some(({ rule }) => rule === 'no-language'));
  const published = await owner.post(`${template}/publish`, {});
  assert.deepEqual(published.body, { version: 1, notes: [] });
  assert.equal((await owner.get(`${template}/draft`)).status, 404);

  await owner.put(`${template}/draft`, { ...content, subject: 'Bye {{Name}}' });
  assert.equal((await owner.post(`${template}/publish`, {})).body.version, 2);
  const versions = await owner.get(`${template}/versions`);
  const published_ = (versions.body.items as { version: number; published: boolean }[]).map(
    (item) => [item.version, item.published],
  );
  assert.deepEqual(published_, [
    [2, true],
    [1, false],
  ]);
  assert.equal((await owner.post(`${template}/roll-back`, { version: 1 })).status, 200);
  assert.equal((await owner.get(template)).body.subject, 'Hello {{Name}}');
  const detail = await owner.get(`${template}/versions/2`);
  assert.equal((detail.body.content as { subject: string }).subject, 'Bye {{Name}}');
  assert.equal((await owner.post(`${template}/roll-back`, { version: 9 })).status, 422);
});

test('a template whose creator has left the account is renamed and published', async () => {
  const left = `${path}/templates/t-left`;
  const creator = 'left@shop.test';
  await database.pool.query(
    `with p as (insert into person (id, email, name) values (gen_random_uuid(), $1, 'Left') returning id)
     insert into membership (account_id, person_id, role) select $2, id, 'developer' from p`,
    [creator, managed.shop.id],
  );
  assert.equal((await owner.put(left, { name: 'Left', createdBy: creator })).status, 201);
  await owner.put(`${left}/draft`, content);
  assert.equal((await owner.delete(`${path}/users/${creator}`)).status, 204);
  const renamed = await owner.put(left, { name: 'Renamed' });
  assert.deepEqual([renamed.status, renamed.body.createdBy], [200, creator]);
  const published = await owner.post(`${left}/publish`, {});
  assert.equal(published.status, 200, published.text);
  const stranger = await owner.put(left, { name: 'Left', createdBy: 'stranger@shop.test' });
  assert.equal(stranger.status, 422);
});

test('a deleted template that someone else creates again has its draft, setting and creator', async () => {
  const back = `${path}/templates/t-back`;
  await owner.put(back, { name: 'Back', whenUncertain: 'hold' });
  await owner.put(`${back}/draft`, content);
  const [before, draft] = [await owner.get(back), await owner.get(`${back}/draft`)];
  assert.equal((await owner.delete(back)).status, 204);
  assert.equal((await owner.get(`${back}/draft`)).status, 404);
  assert.equal((await owner.delete(`${back}/draft`)).status, 404);
  const developer = await managed.as('developer');
  const restored = await developer.put(back, { name: 'Back' }, { 'if-none-match': '*' });
  assert.equal(restored.status, 201, restored.text);
  assert.deepEqual(restored.body, before.body);
  assert.deepEqual((await owner.get(`${back}/draft`)).body, draft.body);
});

test('a draft with errors can be saved and previewed, but not published', async () => {
  await owner.put(`${template}/draft`, { ...content, html: '<p>{{#Open}}</p>' });
  const preview = await owner.post(`${template}/preview`, {});
  assert.equal(preview.body.rendered, null);
  const [problem] = preview.body.problems as Record<string, unknown>[];
  assert.equal(problem?.part, 'html');
  assert.equal(problem?.line, 1);
  const refused = await owner.post(`${template}/publish`, {});
  assert.equal(refused.status, 422, refused.text);
  assert.equal((refused.body.errors as { field: string }[])[0]?.field, 'html');
  assert.equal((await owner.get(template)).body.publishedVersion, 1);
});

test('a draft keeps unused markup, which is neither previewed nor sent nor published', async () => {
  const both = `${path}/templates/t-both`;
  const unusedMarkup = { default: '<mjml>{{#Open}}', de: '<p>Unbenutzt' };
  const draft = { ...content, unusedMarkup };
  await owner.put(both, { name: 'Both' });
  assert.equal((await owner.put(`${both}/draft`, draft)).status, 201);
  const saved = (await owner.get(`${both}/draft`)).body.content as typeof draft;
  assert.deepEqual(saved.unusedMarkup, unusedMarkup);
  for (const body of [{}, { content: draft }])
    assert.notEqual((await owner.post(`${both}/preview`, body)).body.rendered, null);
  assert.equal((await owner.post(`${both}/test-send`, { to: 'me@shop.test' })).status, 202);
  assert.equal((await owner.post(`${both}/duplicate`, { id: 't-both-2', name: 'B' })).status, 201);
  assert.equal((await owner.post(`${both}/publish`, {})).status, 200);
  const version = (await owner.get(`${both}/versions/1`)).body.content as Partial<typeof draft>;
  assert.equal(version.unusedMarkup, undefined);
  const long = { ...draft, unusedMarkup: { default: 'x'.repeat(maxSourceText + 1) } };
  assert.equal((await owner.put(`${both}/draft`, long)).status, 422);
});

test('publishing a version that breaks recent callers requires force', async () => {
  const id = await sender.accept({
    template: 't-new',
    body: {
      envelope: { toAddress: 'reader@example.test' },
      content: { personalizationDataMap: { Name: 'Ann' } },
      actions: { trackOpens: false, trackClicks: false },
    },
  });
  const needing = { ...content, html: '<p>{{Name}} {{Order Number}}</p>' };
  await owner.put(`${template}/draft`, needing);
  const refused = await waitFor('the usage to be recorded', async () => {
    const { rows } = await database.pool.query(
      "select from template_call where template_id = 't-new'",
    );
    return rows.length > 0 && owner.post(`${template}/publish`, {});
  });
  assert.equal(refused.status, 409, refused.text);
  assert.equal(refused.body.type, '/problems/breaks-callers');
  assert.deepEqual(refused.body.missing, ['Order Number']);
  const [call] = refused.body.calls as { lastMessageId: string }[];
  assert.equal(call?.lastMessageId, id);
  const forced = await owner.post(`${template}/publish`, { force: true });
  assert.equal(forced.body.version, 3, forced.text);

  await owner.put(`${template}/draft`, {
    ...needing,
    fields: { 'Order Number': { default: '-' } },
  });
  assert.equal((await owner.post(`${template}/publish`, {})).status, 200);
});

test('a test message is sent like any other and needs a verified sender', async () => {
  await owner.put(`${template}/draft`, { ...content, subject: 'Test of {{Name}}' });
  const seen = async () => {
    const { latestVersion, changedAt } = (await owner.get(template)).body;
    const { items } = (await owner.get(`${template}/versions`)).body;
    return { latestVersion, changedAt, items };
  };
  const before = await seen();
  const sent = await owner.post(`${template}/test-send`, { to: 'me@shop.test' });
  assert.equal(sent.status, 202, sent.text);
  assert.deepEqual(await seen(), before, 'it is no version that people see');
  const message = await waitFor('the test message to be delivered', async () => {
    const { body } = await owner.get(`${path}/messages/${sent.body.messageId}`);
    return body.state === 'delivered' && body;
  });
  assert.equal((message.content as { to: string }).to, 'me@shop.test');
  assert.equal((await owner.get(template)).body.publishedVersion, 4);
  assert.equal(message.templateVersion, -1);
  assert.equal((await owner.get(`${template}/versions/-1`)).status, 404);
  const inbox = await owner.get(`${path}/inbox/messages?search=Test%20of%20Ann`);
  const [captured] = inbox.body.items as { id: string }[];
  const read = await owner.get(`${path}/inbox/messages/${captured?.id}`);
  assert.equal(read.body.subject, 'Test of Ann');
  await owner.put(`${template}/draft`, { ...content, sender: 'new@shop.test' });
  assert.equal((await owner.post(`${template}/test-send`, { to: 'me@shop.test' })).status, 409);
});

test('test messages of drafts use no version numbers, and their content is kept as long as they are', async () => {
  const send = () => owner.post(`${template}/test-send`, { to: 'me@shop.test' });
  const versionOf = async ({ body }: { readonly body: Record<string, unknown> }) =>
    (await owner.get(`${path}/messages/${body.messageId}`)).body.templateVersion;
  await owner.put(`${template}/draft`, { ...content, subject: 'Second test' });
  const second = await send();
  assert.equal(await versionOf(second), -2, second.text);
  assert.equal(await versionOf(await send()), -2, 'the same content is stored once');
  const kept = async () => {
    const { rows } = await database.pool.query<{ version: number }>(
      `select version from template_version
       where template_id = 't-new' and trial and keep_until > now() + interval '90 days' order by version`,
    );
    return rows.map(({ version }) => version);
  };
  assert.deepEqual(await kept(), [-2, -1]);
  await database.pool.query("update template_version set keep_until = now() - interval '1 s'");
  assert.equal(
    (await owner.post(`${path}/messages/${second.body.messageId}/resend`)).status,
    201,
    'a resent test needs its content for as long again',
  );
  await deleteTrialVersions(database.kysely);
  assert.deepEqual(await kept(), [-2]);
  const published = await owner.post(`${template}/publish`, { force: true });
  assert.equal(published.body.version, 5, published.text);
});

test('a preview uses the values of a message of the template, with samples for secret and erased ones', async () => {
  const past = `${path}/templates/t-past`;
  const html = '<p>{{Name}} {{Code}} {{City}} {{Total}}</p>';
  const fields = { Name: {}, Code: { secret: true, sample: '000' }, City: {}, Total: {} };
  await owner.put(past, { name: 'Past' });
  await owner.put(`${past}/draft`, { ...content, subject: 'Past', html, fields });
  assert.equal((await owner.post(`${past}/publish`, {})).status, 200);
  const values = { Name: 'Ann', Code: '123', City: 'Oxford', Total: '9' };
  const sent = await sender.send({
    template: 't-past',
    body: bodyWith({ content: { personalizationDataMap: values } }),
  });
  const { messageId } = sent.body;
  const secretNow = { ...fields, City: { secret: true, sample: 'Paris' } };
  const preview = (caller: ManagementClient, more: object, of = past) =>
    caller.post(`${of}/preview`, { messageId, ...more });
  const textOf = (response: TextResponse) =>
    (response.body.rendered as { text: string }).text.trim();
  assert.equal(textOf(await preview(owner, {})), 'Ann 000 Oxford 9');
  const draft = { ...content, subject: 'Past', html, fields: secretNow };
  const given = { content: draft, values: { Total: '10' } };
  assert.equal(textOf(await preview(owner, given)), 'Ann 000 Paris 10');
  const key = (scopes: readonly Permission[]) => addKey(database, managed.shop.id, { scopes });
  const reader = new ManagementClient(service, await key(['templates:read', 'messages:read']));
  assert.equal(textOf(await preview(reader, {})), 'Ann 000 Oxford 9');
  const designer = new ManagementClient(service, await key(['templates:read']));
  assert.equal((await preview(designer, {})).body.permission, 'messages:read');
  assert.equal((await preview(owner, {}, template)).status, 422, 'a message of another template');
  assert.equal((await preview(owner, { messageId: 'nothing' })).status, 422);
  await database.pool.query('update message set content = null where id = $1', [messageId]);
  assert.equal((await preview(owner, {})).status, 409);
});

test('without a draft, a test message uses the published version', async () => {
  const existing = `${path}/templates/t-0001`;
  const { publishedVersion } = (await owner.get(existing)).body;
  const sent = await owner.post(`${existing}/test-send`, { to: 'me@shop.test' });
  const { body } = await owner.get(`${path}/messages/${sent.body.messageId}`);
  assert.equal(body.templateVersion, publishedVersion, sent.text);
});

test('a template is duplicated as a draft, and a deleted one is not found', async () => {
  const copy = await owner.post(`${template}/duplicate`, { id: 't-copy', name: 'Copy' });
  assert.equal(copy.status, 201, copy.text);
  assert.equal(copy.body.hasDraft, true);
  assert.equal(
    (await owner.post(`${template}/duplicate`, { id: 't-copy', name: 'C' })).status,
    409,
  );
  assert.equal((await owner.delete(`${path}/templates/t-copy`)).status, 204);
  assert.equal((await owner.get(`${path}/templates/t-copy`)).status, 404);
  const listed = await owner.get(`${path}/templates?contains=NEW`);
  assert.deepEqual(
    (listed.body.items as { id: string }[]).map(({ id }) => id),
    ['t-new'],
  );
});
