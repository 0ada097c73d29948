import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { signInToManagement } from '../../test/support/management-client.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { service, shop, it, signedIn } = await openConsoleWorld();

/** A second person who works on the account. */
const colleague = await signInToManagement(service, shop.owner.email);
const account = `/accounts/${shop.id}`;

/** Holds the first request with this method, from now on, until it is let go. */
async function holdFirst(page: Page, url: string, method: string) {
  const held = Promise.withResolvers<Route>();
  let isFirst = true;
  await page.route(url, (route) => {
    if (!isFirst || route.request().method() !== method) return route.continue();
    isFirst = false;
    return held.resolve(route);
  });
  return { held: held.promise };
}

/** Makes the page read its data again, as when the person comes back to its tab. */
async function comeBack(page: Page): Promise<void> {
  await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
}

test('templates: what is typed while a save is under way stays unsaved, and leaving asks first', async () => {
  const draft = `${account}/templates/t-typing/draft`;
  await colleague.put(`${account}/templates/t-typing`, { name: 'Typing' });
  await colleague.put(draft, {
    subject: 'At first',
    html: '<p>Hello</p>',
    sender: 'orders@shop.test',
    fields: {},
  });
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/templates/t-typing`);
  const subject = page.getByRole('textbox', { name: 'Subject', exact: true });
  await subject.fill('Sent');
  const { held } = await holdFirst(page, '**/t-typing/draft', 'PUT');
  await page.keyboard.press('Control+s');
  const save = await held;
  await page.keyboard.press('Control+s');
  await subject.fill('Typed meanwhile');
  const answered = page.waitForResponse((response) => response.request().method() === 'PUT');
  await save.continue();
  await answered;
  // The second Ctrl+S waited, and sent what was typed until then.
  await page.getByText('Saved', { exact: true }).waitFor();
  assert.equal(await page.getByRole('alert', { name: 'Someone else saved' }).count(), 0);
  const { body } = await colleague.get(draft);
  assert.equal((body.content as { subject: string }).subject, 'Typed meanwhile');

  await subject.fill('Once more');
  const { held: again } = await holdFirst(page, '**/t-typing/draft', 'PUT');
  await page.getByRole('button', { name: 'Save draft' }).click();
  const second = await again;
  await subject.fill('Not sent');
  const refreshed = page.waitForResponse(/templates\/t-typing$/);
  await second.continue();
  await refreshed;
  await page.getByText('Unsaved changes').waitFor();
  const asked = page.waitForEvent('dialog');
  const leaving = page.getByRole('link', { name: 'Overview' }).click();
  const dialog = await asked;
  assert.match(dialog.message(), /aren’t saved/);
  await dialog.dismiss();
  await leaving;
  assert.equal(await subject.inputValue(), 'Not sent');
  await visit.close();
});

test('access settings: a failed reload, a change by someone else and the end of the session leave typed values alone', async () => {
  const visit = await signedIn({ separate: true });
  const { page, context } = visit;
  await page.clock.install();
  await visit.open(`${shop.id}/settings/access`);
  const address = page.getByLabel('Security contact');
  await address.fill('mine@shop.test');
  const policy = '**/policy';
  await page.route(policy, (route) => route.abort());
  await page.clock.fastForward(15_000);
  await comeBack(page);
  await page.getByRole('alert').getByText('Can’t reach the service').first().waitFor();
  assert.equal(await address.inputValue(), 'mine@shop.test');
  await page.unroute(policy);
  const { body } = await colleague.get(`${account}/policy`);
  await colleague.put(`${account}/policy`, { ...body, signInHours: 12 });
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });
  assert.equal(await address.inputValue(), 'mine@shop.test');
  const cookies = await context.cookies();
  await context.clearCookies();
  await page.clock.fastForward(15_000);
  const refused = page.waitForResponse((response) => response.status() === 401);
  await comeBack(page);
  await refused;
  await page.getByRole('alert').first().waitFor();
  assert.equal(await address.inputValue(), 'mine@shop.test');
  await context.addCookies(cookies);
  await visit.close();
});

it('single sign-on: the name of a group may have spaces, and a rule changed by someone else is shown', async (visit) => {
  const { page } = visit;
  const provider = `${account}/sign-in-provider`;
  const stored = {
    name: 'Shop ID',
    issuer: 'https://login.shop.test',
    clientId: 'signalpost',
    trustEmail: false,
    members: [{ role: 'viewer', group: 'staff' }],
  };
  const put = await colleague.put(provider, { ...stored, clientSecret: 'a secret of the shop' });
  assert.ok(put.status === 200 || put.status === 201, put.text);
  await visit.open(`${shop.id}/settings/access`);
  const section = page.getByRole('region', { name: 'Single sign-on' });
  const group = section.getByLabel('Group or domain of rule 1');
  await group.fill('');
  await group.pressSequentially('Mail Admins ');
  await colleague.put(provider, { ...stored, trustEmail: true });
  await section.getByRole('button', { name: 'Save' }).click();
  const alert = section.getByRole('alert', { name: 'Someone else changed this' });
  await alert.getByText('no → yes').waitFor();
  await section.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Sign-in provider saved.').waitFor();
  const { body } = await colleague.get(provider);
  const [rule] = body.members as readonly { readonly group: string }[];
  assert.deepEqual([body.trustEmail, rule?.group], [true, 'Mail Admins']);
  assert.equal(await group.inputValue(), 'Mail Admins');
});

it('OAuth apps: a redirect URL that is cleared is sent, and refused', async (visit) => {
  const { page } = visit;
  await colleague.put(`${account}/integrations/cleared`, { name: 'Cleared' });
  await visit.open(`${shop.id}/integrations`);
  await page.getByRole('button', { name: 'Actions for Cleared' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Redirect URL').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').waitFor();
  const { body } = await colleague.get(`${account}/integrations/cleared`);
  assert.equal(body.redirectUri, 'https://localhost/callback');
});

it('API keys: a key can be limited to any template, however many there are', async (visit) => {
  const { page } = visit;
  await colleague.put(`${account}/templates/z-last`, { name: 'Last' });
  await colleague.put(`${account}/templates/z-last/draft`, {
    subject: 'Last',
    html: '<p>Hello</p>',
    sender: 'orders@shop.test',
    fields: {},
  });
  assert.equal((await colleague.post(`${account}/templates/z-last/publish`, {})).status, 200);
  await page.route(/\/templates\?.*limit=500/, (route) =>
    route.continue({ url: route.request().url().replace('limit=500', 'limit=1') }),
  );
  await visit.open(`${shop.id}/keys`);
  await page.getByRole('button', { name: 'New API key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Limit it to templates or networks…' }).click();
  await dialog.getByRole('combobox', { name: 'Templates' }).click();
  await page.getByRole('option', { name: 'z-last' }).waitFor();
});
