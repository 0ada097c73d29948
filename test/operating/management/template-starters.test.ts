import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSharedShop } from '../../support/test-shop.ts';

const { database, owner, path } = await openSharedShop({ worker: false });

interface StarterAnswer {
  readonly id: string;
  readonly attachment: boolean;
  readonly html: string;
  readonly content: { readonly subject: string };
}

test('each of eight starters carries the account’s name, and can be published as it is', async () => {
  const name = 'Ada’s <Coffee> & {{Tea}}';
  assert.equal((await owner.put(path, { name })).status, 200);
  const { items } = (await owner.get(`${path}/template-starters`)).body as {
    items: StarterAnswer[];
  };
  assert.deepEqual(
    items.map(({ id }) => id),
    [
      ...['welcome', 'confirm-address', 'password-reset', 'invitation'],
      ...['receipt', 'shipping', 'invoice', 'security-notice'],
    ],
  );
  assert.deepEqual(
    items.filter(({ attachment }) => attachment).map(({ id }) => id),
    ['invoice'],
  );
  await owner.put(`${path}/senders/shop@shop.test`, {});
  await database.pool.query(
    `update sender set verified_at = now() where address = 'shop@shop.test'`,
  );
  for (const { id } of items) {
    const found = await owner.get(`${path}/template-starters/${id}`);
    assert.equal(found.status, 200, found.text);
    const { content, html } = found.body as unknown as StarterAnswer;
    assert.match(html, /Ada’s &#60;Coffee&#62; &#38; &#123;&#123;Tea&#125;&#125;/);
    assert.doesNotMatch(content.subject, /Tea\}|<mj/);
    const template = `${path}/templates/${id}`;
    assert.equal((await owner.put(template, { name: id })).status, 201);
    const draft = await owner.put(`${template}/draft`, { ...content, sender: 'shop@shop.test' });
    assert.equal(draft.status, 201, draft.text);
    const preview = await owner.post(`${template}/preview`, {});
    assert.deepEqual([preview.body.problems, preview.body.hints], [[], []], id);
    const published = await owner.post(`${template}/publish`, {});
    assert.equal(published.status, 200, published.text);
  }
});

test('an unknown starter is not found', async () => {
  assert.equal((await owner.get(`${path}/template-starters/nothing`)).status, 404);
});
