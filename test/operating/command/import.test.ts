import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { Signalpost } from '../../../packages/client/src/index.ts';
import { convertMarkup } from '../../../packages/import/src/convert-markup.ts';
import { addKey } from '../../support/api-key.ts';
import { FeedbackShop } from '../../support/feedback-shop.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { runInProcess } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const shop = await FeedbackShop.open();
const key = await addKey(shop.database, shop.shop.id);
const { url } = shop.service;
const client = new Signalpost({ url, key });
const folder = temporaryFolder();

function run(...args: string[]) {
  return runInProcess(args, { SIGNALPOST_URL: url, SIGNALPOST_API_KEY: key });
}

async function save(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const handlebars = `<p>Hello {{name}}, {{insert greeting "default=good morning"}}</p>
{{#if note}}<p>{{{note}}}</p>{{else}}<p>No note.</p>{{/if}}
{{#each items}}<p>{{this.title}} for {{../name}}</p>{{else}}<p>Nothing.</p>{{/each}}
{{#unless paid}}<p>Please pay.</p>{{/unless}}`;
const mustachio = `<p>Hello {{name}},</p>
{{#note}}<p>{{{text}}}</p>{{/note}}{{^note}}<p>No note.</p>{{/note}}
{{#each items}}<p>{{title}}</p>{{/each}}`;

const exported = {
  postmark: [
    {
      TemplateId: 1,
      Alias: 'receipt-pm',
      Name: 'Receipt',
      Subject: 'Order {{order}}',
      HtmlBody: mustachio,
      TextBody: 'Hello {{name}}',
      TemplateType: 'Standard',
      LayoutTemplate: 'frame',
    },
    {
      TemplateId: 2,
      Alias: 'frame',
      Name: 'Frame',
      HtmlBody: '<h1>Shop</h1>{{{@content}}}',
      TextBody: 'Shop\n{{{@content}}}',
      TemplateType: 'Layout',
    },
  ],
  sendgrid: [
    {
      id: 'd-1',
      name: 'Receipt SG',
      generation: 'dynamic',
      versions: [
        { active: 0, subject: 'Old', html_content: '<p>Old</p>' },
        { active: 1, subject: 'Order {{order}}', html_content: handlebars },
      ],
    },
  ],
  mailgun: [
    {
      template: {
        name: 'receipt.mg',
        description: 'Receipts',
        version: {
          engine: 'handlebars',
          template: handlebars,
          headers: { Subject: 'Order {{order}}' },
        },
      },
    },
  ],
  resend: [
    {
      id: 'r-1',
      alias: 'receipt-rs',
      name: 'Receipt',
      subject: 'Order {{{order}}}',
      html: '<p>Hello {{{name}}}, {{{greeting}}}</p>',
      variables: [{ key: 'greeting', type: 'string', fallback_value: 'thank you' }],
    },
  ],
};

const ids = {
  postmark: 'receipt-pm',
  sendgrid: 'receipt-sg',
  mailgun: 'receipt-mg',
  resend: 'receipt-rs',
};

const items = [{ title: 'Beans' }, { title: 'Tea' }];
const expected = {
  postmark: [/Shop.*Hello &lt;Ada&gt;,.*<b>Soon<\/b>.*Beans.*Tea/s, /No note/],
  sendgrid: [
    /Hello &lt;Ada&gt;, good morning.*<b>Soon<\/b>.*Beans for &lt;Ada&gt;.*Please pay/s,
    /No note|Nothing/,
  ],
  mailgun: [
    /Hello &lt;Ada&gt;,.*<b>Soon<\/b>.*Tea for &lt;Ada&gt;.*Please pay/s,
    /No note|Nothing/,
  ],
  resend: [/Hello <Ada>, thank you/, /\{\{/],
} as const;

for (const product of ['postmark', 'sendgrid', 'mailgun', 'resend'] as const)
  test(`templates of ${product} are imported, pushed, published and sent`, async () => {
    const paths = await Promise.all(
      exported[product].map((json, index) => save(`${product}-${index}.json`, json)),
    );
    const dir = join(folder, product);
    const imported = await run('import', product, '--templates', ...paths, '--dir', dir);
    assert.equal(imported.code, 0, imported.err);
    const settings = join(dir, ids[product], 'template.yaml');
    await writeFile(
      settings,
      `${await readFile(settings, 'utf8')}sender: orders@shop.test\ncreatedBy: ${shop.shop.owner.email}\n`,
    );
    const pushed = await run('template', 'push', '--dir', dir, '--publish');
    assert.equal(pushed.code, 0, pushed.err + pushed.out);

    const to = `${product}@people.test`;
    const note = product === 'postmark' ? { text: '<b>Soon</b>' } : '<b>Soon</b>';
    const data = { name: '<Ada>', order: 'A-1', ...(product === 'resend' ? {} : { note, items }) };
    await client.send(ids[product], { to, data });
    const [mail] = await readInbox(url, `?to=${to}&wait=30`);
    assert.equal(mail?.subject, 'Order A-1');
    const [shown, hidden] = expected[product];
    assert.match(mail?.html ?? '', shown);
    assert.doesNotMatch(mail?.html ?? '', hidden);
  });

test('what has no counterpart is listed by file and line, stays in the template, and fails a strict import', async () => {
  const path = await save('odd.json', {
    name: 'Odd',
    versions: [
      {
        active: 1,
        subject: 'Odd',
        html_content:
          '<p>{{formatDate due "MM"}}</p>\n{{#equals a b}}x{{/equals}}\n{{this}} {{user.name}}',
      },
    ],
  });
  const args = ['import', 'sendgrid', '--templates', path, '--dir', join(folder, 'odd')];
  const { code, out } = await run(...args, '--strict');
  assert.equal(code, 1);
  assert.match(out, /body\.html:1: \{\{formatDate due "MM"\}\} is a helper/);
  assert.match(out, /body\.html:2: \{\{#equals a b\}\} is a block/);
  assert.match(out, /body\.html:3: \{\{this\}\} is an item without fields/);
  assert.match(
    out,
    /body\.html:3: \{\{user\.name\}\} is one field: send it under the key user\.name/,
  );
  const html = await readFile(join(folder, 'odd/odd/body.html'), 'utf8');
  assert.match(html, /\{\{formatDate due "MM"\}\}/);
  const again = await run(...args);
  assert.match(again.err, /exists; --force overwrites it/);
  assert.equal((await run(...args, '--force')).code, 0);
});

test('a file that isn’t a response of the product is named', async () => {
  const path = await save('else.json', { hello: 'world' });
  for (const product of ['postmark', 'sendgrid', 'mailgun', 'resend']) {
    const { code, err } = await run('import', product, '--templates', path, '--dir', folder);
    assert.equal(code, 1);
    assert.match(err, /else\.json isn’t what \w+ returns for GET/);
  }
  assert.match((await run('import', 'other', '--templates', path)).err, /is not one of postmark/);
});

async function reasonsOf(address: string): Promise<string[]> {
  const { rows } = await shop.database.pool.query<{ reason: string }>(
    'select reason from suppression where address = $1 order by reason',
    [address],
  );
  return rows.map(({ reason }) => reason);
}

for (const [what, product, file, more, reasons] of [
  [
    'a dump of Postmark',
    'postmark',
    {
      Suppressions: [
        { EmailAddress: 'A1@people.test', SuppressionReason: 'HardBounce' },
        { EmailAddress: 'b1@people.test', SuppressionReason: 'SpamComplaint' },
      ],
    },
    [],
    { 'a1@people.test': ['hard_bounce'], 'b1@people.test': ['complaint'] },
  ],
  [
    'a CSV file that a spreadsheet saved',
    'sendgrid',
    '\ufeffStatus;E-Mail;;\n;"d1@people.test" ;;\n;;;\n',
    ['--reason', 'complaint'],
    { 'd1@people.test': ['complaint'] },
  ],
  [
    'a CSV file of Postmark',
    'postmark',
    'EmailAddress,SuppressionReason\nc1@people.test,ManualSuppression\n',
    [],
    { 'c1@people.test': ['manual'] },
  ],
  [
    'bounces of SendGrid',
    'sendgrid',
    [{ created: 1, email: 'a2@people.test', reason: '550 no such user', status: '5.1.1' }],
    ['--reason', 'hard_bounce'],
    { 'a2@people.test': ['hard_bounce'] },
  ],
  [
    'a page of Mailgun’s bounces',
    'mailgun',
    { items: [{ address: 'a3@people.test', code: '550', error: 'no' }], paging: {} },
    [],
    { 'a3@people.test': ['hard_bounce'] },
  ],
  [
    'a page of Mailgun’s unsubscribes',
    'mailgun',
    { items: [{ address: 'b3@people.test', tags: ['*'] }] },
    [],
    { 'b3@people.test': ['unsubscribe'] },
  ],
  [
    'contacts of Resend',
    'resend',
    'email,unsubscribed\na4@people.test,true\nb4@people.test,false\n',
    [],
    { 'a4@people.test': ['unsubscribe'], 'b4@people.test': [] },
  ],
] as const)
  test(`${what} become suppressions`, async () => {
    const path = await save('suppressions', file);
    const { code, err } = await run('import', product, '--suppressions', path, ...more);
    assert.equal(code, 0, err);
    for (const [address, wanted] of Object.entries(reasons))
      assert.deepEqual(await reasonsOf(address), wanted);
  });

test('rows that say too little are listed, and the others are imported', async () => {
  const path = await save('rows.json', [{ email: 'nobody' }, { email: 'a5@people.test' }, 7]);
  const missing = await run('import', 'sendgrid', '--suppressions', path);
  assert.equal(missing.code, 1);
  assert.match(missing.err, /row 2: doesn’t say why; give the reason of the file with --reason/);
  const some = await run('import', 'sendgrid', '--suppressions', path, '--reason', 'complaint');
  assert.equal(some.code, 1);
  assert.match(some.err, /row 1: has no email address\n.*row 3: is not an object/s);
  assert.deepEqual(await reasonsOf('a5@people.test'), ['complaint']);
});

test('text between tags stays as it is, and no tag is lost', () => {
  const tag = fc.constantFrom(
    '{{a}}',
    '{{{b}}}',
    '{{#if c}}',
    '{{/if}}',
    '{{else}}',
    '{{#each d}}',
    '{{/each}}',
    '{{x y}}',
    '{{! n }}',
  );
  const text = fc.string({ unit: fc.constantFrom(...'ab \n<>&\'"{}%'.split('')) });
  fc.assert(
    fc.property(fc.array(fc.oneof(tag, text)), (parts) => {
      const source = parts.join('');
      const tags = /\{\{\{[^{}]*\}\}\}|\{\{[^{}]*\}\}/g;
      for (const language of ['handlebars', 'mustachio', 'variables'] as const) {
        const { text: converted } = convertMarkup(source, language);
        // An else becomes two tags; the text around tags is what tags split.
        assert.equal(converted.replace(tags, ''), source.replace(tags, ''));
        assert.ok((converted.match(tags) ?? []).length >= (source.match(tags) ?? []).length);
      }
    }),
  );
});
