import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { addKey } from '../../test/support/api-key.ts';
import { signInToManagement } from '../../test/support/management-client.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { password, SessionWorld } from '../../test/support/session-world.ts';
import { openShop } from '../../test/support/shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.ts';
import { openConsoleWorld } from '../support/console-world.ts';
import { colorRules, viewportOf } from '../support/open-chromium.ts';

const world = await openConsoleWorld();
const { browser, database, service, shop, it, signedIn } = world;
await database.pool.query(
  `insert into contact_list (account_id, id, name, folder_name, description)
   values ($1, 'l-1', 'Customers', '', 'Everyone')`,
  [shop.id],
);

const owner = await signInToManagement(service, shop.owner.email);
const account = `/accounts/${shop.id}`;
// Until a program has sent one, the overview shows the steps to the first message.
const client = new SendClient(service, await addKey(database, shop.id));
assert.equal((await client.send()).status, 200);
assert.equal((await client.send({ template: 'none' })).status, 400);
const sent = await owner.post(`${account}/templates/t-0001/test-send`, { to: 'first@people.test' });
const webhook = await owner.post(`${account}/webhooks`, {
  url: 'https://hooks.example/signalpost',
  kinds: ['bounced'],
});
await owner.put(`${account}/domains/shop.test`, {});
await owner.put(`${account}/outbox-sources/orders`, {
  table: 'email_outbox',
  url: 'postgres://signalpost:secret@db.shop.invalid/shop',
});
// Of the test send: the policy of the frame stops the image of a tracked mail, but the browser tells of its request.
const mail = await waitFor('the mail to be captured', async () => {
  const { body } = await owner.get(`${account}/inbox/messages`);
  const items = body.items as { id: string; envelopeTo: readonly string[] }[];
  return items.find(({ envelopeTo }) => envelopeTo.includes('first@people.test'))?.id;
});

const pages = [
  '',
  'messages',
  `messages/${sent.body.messageId}`,
  'messages/replies',
  'scheduled',
  'reports',
  'templates',
  'templates/t-0001',
  'templates/t-0001/versions',
  'templates/t-0001/use',
  'senders',
  'domains',
  'domains/shop.test',
  'keys',
  'requests',
  'smtp',
  'integrations',
  'webhooks',
  `webhooks/${webhook.body.id}`,
  'outboxes',
  'people',
  'people?address=first%40people.test',
  'lists',
  'lists/l-1',
  'suppressions',
  'destinations',
  'destinations/receivers',
  'destinations/tls',
  'inbox',
  `inbox?mail=${mail}`,
  'team',
  'audit',
  'settings',
  'settings/access',
  'settings/processes',
  'privacy',
] as const;

/** Adds up layout shifts without user input (Layout Instability API). */
const recordShifts = `
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`;

/** The name of a screenshot, without ids that change on every run. */
function nameOf(path: string): string {
  return path.replace(/(?:\/|\?mail=)[\w-]{36}$/, '-one').replaceAll('/', '-') || 'overview';
}

/** What runs wider than the measure: lines of text and fields; tables and sources may. */
const findWide = `(() => {
  const wide = [];
  const measure = (name, box) => box.width > 1400 && wide.push(name + ' ' + Math.round(box.width));
  const isFree = (element) => element.closest('table, .rows, pre, .cm-editor, .visually-hidden') !== null;
  for (const one of document.querySelectorAll('#main :is(form, input, select, textarea)'))
    if (!isFree(one)) measure(one.tagName, one.getBoundingClientRect());
  const texts = document.createTreeWalker(document.getElementById('main'), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (text.data.trim() === '' || isFree(text.parentElement)) continue;
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) measure(text.data.slice(0, 40), box);
  }
  return wide;
})()`;

/** Waits for the page's data, and fails if it moved by more than the Core Web Vitals limit for "good" since it was opened. */
async function requireStill(visit: ConsoleVisit, what: string): Promise<void> {
  await visit.settle();
  const shifted = await visit.page.evaluate<number>('window.shifted');
  await visit.page.evaluate('window.shifted = 0');
  assert.ok(shifted < 0.1, `${what} moves by ${shifted}`);
}

it('every page is accessible, fits the screen, does not shift, keeps text and forms to a measure, and requests only the API and static files', async (visit) => {
  const { page } = visit;
  await page.addInitScript(recordShifts);
  const requestedPaths: string[] = [];
  page.on('request', (request) => requestedPaths.push(new URL(request.url()).pathname));
  for (const path of pages) {
    await page.setViewportSize(viewportOf({}));
    await visit.open(`${shop.id}/${path}`);
    await requireStill(visit, `${path} on a desk`);
    await visit.look(`${nameOf(path)}-desk`);
    await page.emulateMedia({ colorScheme: 'dark' });
    await visit.look(`${nameOf(path)}-dark`, colorRules);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(viewportOf({ huge: true }));
    assert.deepEqual(await page.evaluate(findWide), [], path);
  }
  await page.setViewportSize(viewportOf({ phone: true }));
  await visit.open(shop.id);
  await requireStill(visit, 'the console on a phone');
  for (const path of pages) {
    await visit.move(`${shop.id}/${path}`);
    await requireStill(visit, `${path} on a phone`);
    await visit.look(`${nameOf(path)}-phone`);
  }
  const others = requestedPaths.filter(
    (path) => !/^\/(?:console(?:\/|$)|brand\/|manage\/v1\/)/.test(path),
  );
  assert.deepEqual(others, []);
  assert.ok(requestedPaths.some((path) => path.startsWith('/manage/v1/accounts/')));
});

test('the page of TLS results does not move if the settings arrive after the list', async () => {
  const visit = await signedIn({ phone: true });
  const { page } = visit;
  await page.addInitScript(recordShifts);
  const list = page.waitForResponse((response) => response.url().includes('/tls-results'));
  await page.route('**/installation/settings', async (route) => {
    await list;
    await route.continue();
  });
  await visit.open(`${shop.id}/destinations/tls`);
  await page.getByText('Available with direct delivery').waitFor();
  await requireStill(visit, 'it');
  await visit.end();
});

it('the page of a message does not move when its content arrives after the rest', async (visit) => {
  const { page } = visit;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/rendered', async (route) => {
    await released;
    await route.continue();
  });
  await visit.open(`${shop.id}/messages/${sent.body.messageId}`);
  const timeline = page.getByRole('heading', { name: 'Timeline' });
  await timeline.waitFor();
  await page.getByRole('heading', { level: 1, name: 'first@people.test' }).waitFor();
  const before = await timeline.boundingBox();
  release();
  await page.getByRole('main').locator('iframe').waitFor();
  assert.equal((await timeline.boundingBox())?.y, before?.y);
});

test('a signed-out visitor is sent to the sign-in page and then back; an unknown account shows “Page not found”', async () => {
  const visit = await visitConsole(browser, service.url);
  const { page } = visit;
  await page.goto(`${service.url}/console/${shop.id}/messages?state=bounced`);
  await page.getByLabel('Email address').fill(shop.owner.email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('No messages match these filters').waitFor();
  assert.equal(await page.getByLabel('State').inputValue(), 'bounced');
  await visit.open('nobody/messages');
  await page.getByText('Page not found').waitFor();
  await visit.end();
});

test('signing in without having requested a page opens the console; signing out is one click', async () => {
  const visit = await visitConsole(browser, service.url);
  const { page } = visit;
  await page.goto(`${service.url}/sign-in`);
  await page.getByLabel('Email address').fill(shop.owner.email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${service.url}/console/${shop.id}`);
  await page.getByRole('link', { name: /Your settings$/ }).click();
  await page.getByRole('heading', { name: 'Sign-in and security' }).waitFor();
  await page.getByRole('link', { name: 'Go to the console' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${service.url}/sign-in`);
  await page.goto(`${service.url}/console/${shop.id}`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await visit.close();
});

it('messages: a sent message is sent again once that is confirmed; messages are found from one box, and filters saved, columns chosen and results exported', async (visit) => {
  const { page } = visit;
  await page.goto(`${service.url}/console/${shop.id}/templates/t-0001`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('To').fill('ann@people.test');
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('link', { name: 'Open the message' }).click();
  await page.waitForURL(/messages\/[\w-]{36}$/);
  await page.getByText('Captured in the test inbox').waitFor();
  await page.frameLocator('iframe').locator('body').waitFor();
  await visit.look('message-delivered');
  const first = page.url();
  await page.getByRole('button', { name: 'Resend' }).click();
  await dialog.getByText('ann@people.test gets a second copy').waitFor();
  await visit.look('message-send-again');
  await dialog.getByRole('button', { name: 'Resend' }).click();
  await page.waitForURL((url) => url.href !== first);
  await page.getByText('Captured in the test inbox').waitFor();
  await visit.open(`${shop.id}/messages`);
  const box = page.getByLabel('Search messages').first();
  await box.fill(' ann@ ');
  await page.getByRole('option', { name: 'Recipient: ann@' }).click();
  await page.waitForURL(/recipient=ann%40$/);
  const ann = page.getByRole('link', { name: 'ann@people.test' });
  await ann.nth(1).waitFor();
  await page.getByRole('button', { name: 'Remove filter: Recipient' }).click();
  await page.waitForURL(/messages$/);
  // The search index lags behind the messages.
  await waitFor('the messages to be found by subject', async () => {
    await box.fill('your order');
    await box.press('Enter');
    await page.waitForURL(/search=your\+order$/);
    await page.reload();
    await page
      .getByText(/^(?:No messages match|ann@people\.test$)/)
      .first()
      .waitFor();
    return (await ann.count()) >= 2;
  });
  assert.equal(await box.inputValue(), 'your order');
  await page
    .getByRole('cell', { name: /^Your order / })
    .first()
    .waitFor();

  await page.getByRole('button', { name: 'Save filter…' }).click();
  await dialog.getByLabel('Name').fill('Orders');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const saved = page.getByRole('navigation', { name: 'Saved filters' });
  await saved.getByRole('link', { name: 'Orders' }).waitFor();
  await visit.look('messages-saved-filter');
  await saved.getByRole('link', { name: 'All messages' }).click();
  await page.waitForURL(/messages$/);
  await saved.getByRole('link', { name: 'Orders' }).click();
  await page.waitForURL(/search=your\+order$/);
  await page.getByRole('button', { name: 'Delete saved filter' }).click();
  await saved.waitFor({ state: 'detached' });

  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).click(),
  ]);
  assert.match(await readFile(await file.path(), 'utf8'), /^id,.*\r\n.*,Your order /);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('External ID').check();
  await page.getByLabel('Template', { exact: true }).uncheck();
  await page.keyboard.press('Escape');
  await page.reload();
  await page.getByRole('columnheader', { name: 'External ID' }).waitFor();
  assert.equal(await page.getByRole('columnheader', { name: 'Template' }).count(), 0);
  await box.fill('nobody');
  await box.press('Enter');
  await page.getByText('No messages match these filters').waitFor();
  await page.getByRole('button', { name: 'Search recipients containing “nobody”' }).click();
  await page.waitForURL(/recipient=nobody$/);
  await visit.look('messages-none-found');
});

it('the console can be used with the keyboard alone: skip link, menu, page and palette', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/senders`);
  await page.getByRole('button', { name: 'Add a sender' }).waitFor();
  const current = page.locator('[aria-current="page"]');
  assert.deepEqual(await current.allInnerTexts(), ['Senders']);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await waitFor('the content to have the focus', async () =>
    page.evaluate<boolean>("document.activeElement?.id === 'main'"),
  );
  for (const name of ['Domains', 'Senders', 'Add a sender']) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>('document.activeElement.textContent');
    assert.equal(focused.trim(), name);
  }
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Go to' });
  await palette.getByRole('option', { name: 'Suppressions' }).waitFor();
  await waitFor('the field to have the focus', () =>
    page.evaluate<boolean>("document.activeElement?.tagName === 'INPUT'"),
  );
  await visit.look('palette');
  await page.keyboard.type('repor');
  await palette.getByRole('option', { name: 'Suppressions' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.waitForURL(/reports$/);
  await page.getByRole('heading', { name: 'Reports', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await waitFor('the field to have the focus', () =>
    page.evaluate<boolean>("document.activeElement?.tagName === 'INPUT'"),
  );
  await page.keyboard.type('t-00');
  await palette.getByRole('option', { name: 't-0001 · t-0001' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/templates\/t-0001$/);
});

test('the palette receives every keystroke from the moment it opens, and Enter waits for the results', async () => {
  const visit = await signedIn({ separate: true });
  const { page } = visit;
  await visit.open(`${shop.id}/senders`);
  await page.getByRole('button', { name: 'Go to…' }).waitFor();
  // The palette's script is still loading while the person types.
  await page.route(/\/palette-[^/]*\.js$/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    await route.continue();
  });
  await page.route(/\/templates\?contains=/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue();
  });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('t-0001');
  await page.keyboard.press('Enter');
  await page.waitForURL(/templates\/t-0001$/);
  await page.keyboard.press('Control+k');
  const field = page.getByRole('dialog', { name: 'Go to' }).getByRole('combobox');
  await page.keyboard.type('report', { delay: 20 });
  await field.waitFor();
  assert.equal(await field.inputValue(), 'report');
  await page.keyboard.type('s');
  await page.keyboard.press('Enter');
  await page.waitForURL(/reports$/);
  await visit.end();
});

test('the palette closes with Escape, runs actions, and finds messages by ID, address and subject; ? lists the shortcuts', async () => {
  const visit = await signedIn({ separate: true });
  const { page } = visit;
  await visit.open(`${shop.id}/senders`);
  await page.getByRole('button', { name: 'Go to…' }).waitFor();
  const palette = page.getByRole('dialog', { name: 'Go to' });
  const field = palette.getByRole('combobox');
  await page.keyboard.press('Control+k');
  await field.fill('zzz');
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });

  const id = String(sent.body.messageId);
  for (const typed of [id, 'first@people.test', 'your order']) {
    await page.keyboard.press('Control+k');
    await field.fill(typed);
    await palette
      .getByRole('option', { name: /first@people\.test$/ })
      .first()
      .click();
    await page.waitForURL(new RegExp(`messages/${id}$`));
    await visit.open(`${shop.id}/senders`);
  }
  await page.keyboard.press('Control+k');
  await field.fill('suppress addr');
  const suppress = palette.getByRole('option', { name: 'Suppress address…' });
  await suppress.waitFor();
  assert.equal(await suppress.getAttribute('data-first'), 'true', 'Enter chooses it');
  await visit.look('palette-action');
  await page.keyboard.press('Enter');
  await page.waitForURL(/suppressions$/);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await field.fill('invite');
  await palette.getByRole('option', { name: 'Invite someone…' }).click();
  await page.waitForURL(/team$/);
  await dialog.getByRole('button', { name: 'Send invitation' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await field.fill('dark');
  await palette.getByRole('option', { name: 'Switch to dark mode' }).click();
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await page.keyboard.press('Control+k');
  await field.fill('create temp');
  await palette.getByRole('option', { name: 'Create template…' }).click();
  await page.waitForURL(/templates$/);
  await dialog.getByLabel('Template ID').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await field.fill('t-0001');
  await palette.getByRole('option', { name: 'Send test of t-0001…' }).click();
  await page.waitForURL(/templates\/t-0001$/);
  await dialog.getByRole('textbox', { name: 'To', exact: true }).waitFor();
  await page.keyboard.press('Escape');

  await visit.open(`${shop.id}/senders`);
  await page.getByRole('button', { name: 'Add a sender' }).waitFor();
  for (const [typed, name, url] of [
    ['shop.te', 'shop.test', /domains\/shop\.test$/],
    ['orders@', 'orders@shop.test', /senders$/],
    ['custom', 'Customers l-1', /lists\/l-1$/],
    ['hooks.ex', 'https://hooks.example/signalpost', /webhooks\/[\w-]{36}$/],
  ] as const) {
    await page.keyboard.press('Control+k');
    await field.fill(typed);
    await palette.getByRole('option', { name, exact: true }).click();
    await page.waitForURL(url);
  }
  await visit.open(`${shop.id}/senders`);
  await page.getByRole('button', { name: 'Add a sender' }).waitFor();
  await page.keyboard.press('?');
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  const sections = shortcuts.getByRole('heading', { level: 3 });
  await sections.first().waitFor();
  assert.deepEqual(await sections.allTextContents(), ['General', 'Pages']);
  await visit.look('shortcuts');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  for (const [letter, url] of [
    ['a', /audit$/],
    ['h', /integrations$/],
    ['y', /privacy$/],
  ] as const) {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    await page.waitForURL(url);
  }
  await visit.end();
});

it('audit log: entries are sentences with what changed, and are searched, filtered and exported', async (visit) => {
  const { page } = visit;
  await owner.put(`${account}/lists/l-audit`, { name: 'Byers' });
  await owner.put(`${account}/lists/l-audit`, { name: 'Buyers' });
  await visit.open(`${shop.id}/audit`);
  const table = page.getByRole('table', { name: 'Audit log' });
  await table.getByText(/changed list “Buyers”$/).waitFor();
  await table.getByText('Name: Byers → Buyers').waitFor();
  await page.getByLabel('Type').selectOption('domain');
  await table.getByText(/created domain “shop\.test”$/).waitFor();
  await table.getByText('Name: Byers → Buyers').waitFor({ state: 'detached' });
  await page.getByLabel('Search').fill('nothing like this');
  await page.getByText('No matching events').waitFor();
  await visit.look('audit-none-found');
  await page.getByRole('button', { name: 'Clear search' }).click();
  await table.getByText(/created domain “shop\.test”$/).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Person').selectOption(shop.owner.email);
  await page.waitForURL(/person=/);
  await table.getByText('Name: Byers → Buyers').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  const time = page.getByLabel('Time', { exact: true });
  await time.selectOption('Last 24 hours');
  await page.waitForURL(/period=24h$/);
  await table.getByText('Name: Byers → Buyers').waitFor();
  await time.selectOption('Custom…');
  await page.getByLabel('Until').fill('2020-01-01');
  await page.getByText('No matching events').waitFor();
  await visit.look('audit-custom-period');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Until').waitFor({ state: 'detached' });
  await page.getByLabel('Search').fill('byers');
  await page.waitForURL(/search=byers$/);
  await table.getByText('Name: Byers → Buyers').waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).click(),
  ]);
  assert.match(await readFile(await file.path(), 'utf8'), /^at,kind,.*\r\n.*,list_changed,/);
});

it('messages: an unknown message or an invalid ID shows “Message not found”; filters without matches can be cleared', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/messages/019a0000-0000-7000-8000-000000000000`);
  await page.getByRole('alert').getByText('Message not found').waitFor();
  await visit.look('message-unknown');
  await visit.open(`${shop.id}/messages/not-an-id`);
  await page.getByRole('alert', { name: 'Message not found' }).waitFor();
  assert.equal(await page.getByText('UUID').count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  await page.getByRole('alert').getByRole('link', { name: 'All messages' }).click();
  await page.getByLabel('State').selectOption('bounced');
  await page.getByText('No messages match these filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('link', { name: 'ann@people.test' }).first().waitFor();
});

it('inbox: a message is found and shown, rendered and as source; emptying the inbox requires typing its name; a deleted message shows “Message not found”', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/inbox`);
  await page.getByLabel('Search subject').fill('no such words');
  await page.getByText('No mail matches your search').waitFor();
  await page.getByLabel('Search subject').fill('order');
  await page
    .getByRole('link', { name: /Your order/ })
    .first()
    .click();
  await page.frameLocator('iframe').getByText('Hello there').waitFor();
  const shown = page.url();
  await page.keyboard.press('j');
  await page.waitForURL((url) => url.href !== shown);
  await page.keyboard.press('k');
  await page.waitForURL(shown);
  await page.getByRole('tab', { name: 'Headers' }).click();
  await page.getByRole('rowheader', { name: 'Message-ID' }).waitFor();
  await page.getByRole('tab', { name: 'Source' }).click();
  await page.getByText(/^MIME-Version: 1\.0/m).waitFor();
  const read = page.url();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download .eml' }).click(),
  ]);
  assert.match(await readFile(await file.path(), 'utf8'), /^MIME-Version: 1\.0/m);
  assert.match(file.suggestedFilename(), /^[0-9a-f-]{36}\.eml$/);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Choose a message').waitFor();
  await page.getByRole('button', { name: 'Delete all mail' }).click();
  const dialog = page.getByRole('dialog');
  assert.equal(await dialog.getByRole('button', { name: 'Delete all mail' }).isDisabled(), true);
  await dialog.getByLabel('Type inbox to confirm').fill('inbox');
  await dialog.getByRole('button', { name: 'Delete all mail' }).click();
  await page.getByLabel('Search subject').fill('');
  await page.getByText('No mail yet').waitFor();
  await page.goto(read);
  await page.getByRole('alert').getByRole('link', { name: 'All mail' }).waitFor();
  await page.getByRole('alert').getByText('Message not found').waitFor();
  await visit.look('mail-gone');
  // The address of a message as it was before.
  const id = new URL(read).searchParams.get('mail');
  await page.goto(`${service.url}/console/${shop.id}/inbox/${id}`);
  await page.waitForURL((url) => url.search === `?mail=${id}`);
});

test('a user without an account sees an explanation; an unknown URL offers a way back', async () => {
  const stranger = await new SessionWorld(database, shop.id).addPerson({ accounts: [] });
  const visit = await visitConsole(browser, service.url);
  const { page } = visit;
  await page.goto(`${service.url}/sign-in?next=/console`);
  await page.getByLabel('Email address').fill(stranger.email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('You don’t belong to an account').waitFor();
  await page.getByText(`Signed in as ${stranger.email}`).waitFor();
  await visit.look('no-account');
  await page.goto(`${service.url}/console/${shop.id}/messages`);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await visit.look('not-found');
  await page.getByRole('link', { name: 'Back to the console' }).click();
  await page.getByText('You don’t belong to an account').waitFor();
  await visit.end();
});

test('a long account name is truncated, with one account and with several; the buttons beside it stay visible', async () => {
  const name = 'Northwind Traders International GmbH '.repeat(5).trim();
  for (const kind of ['one', 'several']) {
    if (kind === 'several') {
      const second = await openShop(database, { id: '46200' });
      const membership = { accountId: second.id, personId: shop.owner.id, role: 'owner' } as const;
      await saveMembership(database.kysely, membership);
    }
    assert.equal((await owner.put(account, { name })).status, 200);
    for (const options of [{}, { phone: true }]) {
      const visit = await signedIn(options);
      await visit.open(`${shop.id}/senders`);
      const banner = visit.page.getByRole('banner');
      await banner.getByTitle(name).waitFor();
      const switcher = banner.getByRole('combobox', { name: 'Account' });
      assert.equal(await switcher.count(), kind === 'several' ? 1 : 0);
      const search = banner.getByRole('button', { name: 'Go to…' });
      await search.click({ trial: true });
      const box = await search.boundingBox();
      const width = visit.page.viewportSize()?.width ?? 0;
      assert.ok(box !== null && box.x + box.width <= width, `${kind} on ${width} px`);
      await visit.look(`long-account-name-${kind}-${width}`);
      await visit.end();
    }
  }
});

it('the console opens with the account last used in this browser, and the palette switches to another', async (visit) => {
  const other = await openShop(database, { id: '46300' });
  const membership = { accountId: other.id, personId: shop.owner.id, role: 'owner' } as const;
  await saveMembership(database.kysely, membership);
  for (const { id } of [other, shop]) {
    await visit.open(`${id}/senders`);
    await visit.page.goto(`${service.url}/console`);
    await visit.page.waitForURL(new RegExp(`/console/${id}$`));
  }
  await visit.page.getByRole('button', { name: 'Go to…' }).waitFor();
  await visit.page.keyboard.press('Control+k');
  await visit.page.keyboard.type('shop 46300');
  const palette = visit.page.getByRole('dialog', { name: 'Go to' });
  await palette.getByRole('option', { name: 'Shop 46300 46300' }).click();
  await visit.page.waitForURL(/console\/46300$/);
});

test('times are shown in the user’s time zone, with its name', async () => {
  await database.pool.query(`update contact_list set modified_at = '2026-01-15T22:30:00Z'`);
  const visit = await signedIn({ timeZone: 'Asia/Tokyo' });
  const { page } = visit;
  await visit.open(`${shop.id}/lists`);
  const time = page.locator('time').first();
  await time.waitFor();
  assert.match((await time.textContent()) ?? '', /Jan 16, 2026.*7:30/);
  assert.match((await time.getAttribute('title')) ?? '', /GMT\+9|Japan/);
  await visit.end();
});

test('dates and numbers are American in every browser, until the person chooses other formats', async () => {
  await database.pool.query(`update contact_list set modified_at = '2026-01-15T22:30:00Z'`);
  const visit = await signedIn({ timeZone: 'Asia/Tokyo', locale: 'de-DE' });
  const { page } = visit;
  const time = page.locator('time').first();
  const choose = async (formats: string) => {
    await page.goto(`${service.url}/me`);
    await page.getByLabel('Dates and numbers').selectOption(formats);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Language and formats saved.').waitFor();
    await visit.open(`${shop.id}/lists`);
    await time.waitFor();
  };
  await visit.open(`${shop.id}/lists`);
  await time.waitFor();
  assert.match((await time.textContent()) ?? '', /^Jan 16, 2026, 7:30:00.AM$/);
  await choose('en-GB');
  assert.equal(await time.textContent(), '16 Jan 2026, 07:30:00');
  await choose('en-US');
  assert.match((await time.textContent()) ?? '', /^Jan 16, 2026, 7:30:00.AM$/);
  await visit.close();
});

test('on a wide screen, tables take the space', async () => {
  const visit = await signedIn({ huge: true });
  await visit.open(`${shop.id}/messages`);
  const table = await visit.page.getByRole('table').first().boundingBox();
  assert.ok((table?.width ?? 0) > 1_400, `the table has ${table?.width} px`);
  await visit.end();
});

test('on phones, the choices of the message log and the editor are wide enough for their words', async () => {
  const visit = await signedIn({ phone: true });
  const { page } = visit;
  for (const [path, name] of [
    ['messages', 'State'],
    ['templates/t-0001', 'Language'],
  ] as const) {
    await visit.open(`${shop.id}/${path}`);
    const box = await page.getByLabel(name, { exact: true }).boundingBox();
    assert.ok((box?.width ?? 0) > 110, `${name}: ${box?.width}`);
    await visit.look(`choices-${name}`);
  }
  await visit.end();
});

it('hovering a row colors all of it or none', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/senders`);
  const actions = page.locator('td[data-actions]').first();
  await actions.waitFor();
  const colorOf = (selector: string) =>
    page.evaluate<string>(
      `getComputedStyle(document.querySelector('td[data-actions]').closest('${selector}')).backgroundColor`,
    );
  const before = await colorOf('td');
  await actions.hover();
  const row = await colorOf('tr');
  assert.equal(await colorOf('td'), row === 'rgba(0, 0, 0, 0)' ? before : row);
});

it('the account of the demo data says so, and how it is removed', async (visit) => {
  const made = await openShop(database, { id: '46400' });
  const membership = { accountId: made.id, personId: shop.owner.id, role: 'owner' } as const;
  await saveMembership(database.kysely, membership);
  await database.pool.query('update account set demo = true where id = $1', [made.id]);
  await visit.open(made.id);
  await visit.page.getByText('Made-up messages').getByText('bin/signalpost demo clear').waitFor();
  await visit.move(`${made.id}/reports`);
  const figures = visit.page.getByRole('region', { name: 'Last 30 days' });
  await figures.getByText('Delivered', { exact: true }).first().waitFor();
  await visit.open(shop.id);
  await visit.page.getByRole('heading', { name: 'Activity' }).waitFor();
  assert.equal(await visit.page.getByText('Made-up messages').count(), 0);
  await visit.move(`${shop.id}/reports`);
  await figures.getByText('Captured', { exact: true }).first().waitFor();
});

test('the first view loads less than 200 kB of compressed script, including its plot', async () => {
  const visit = await visitConsole(browser, service.url);
  let bytes = 0;
  visit.page.on('response', (response) => {
    if (!response.url().endsWith('.js')) return;
    assert.match(response.headers()['content-encoding'] ?? '', /^(?:br|gzip)$/);
    bytes += Number(response.headers()['content-length'] ?? 1e9);
  });
  await visit.signIn(shop.owner.email, password);
  await visit.page.locator('.plot').waitFor();
  await visit.page.waitForLoadState('networkidle');
  assert.ok(bytes > 0 && bytes < 200_000, `${bytes} bytes`);
  await visit.end();
});
