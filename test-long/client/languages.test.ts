import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { snippets } from '../../console/src/template/snippets.ts';
import { newWebhookSecret, signWebhook } from '../../src/outcomes/webhook/sign-webhook.ts';
import { addKey } from '../../test/support/api-key.ts';
import { FaultyProxy } from '../../test/support/faulty-proxy.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { runSnippet } from '../../test/support/run-snippet.ts';
import { waitFor } from '../../test/support/wait-for.ts';

/** The programs of docs/python.md and the other pages for languages, as a reader saves and runs them. */
const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'languages-test-'));
after(() => rm(folder, { recursive: true }));

interface Language {
  readonly file: string;
  readonly compile?: readonly string[];
  /** The program and its first arguments. */
  readonly run: readonly string[];
  /** Serves the program's webhook handler on a port; default: `run`, with the arguments `receive` and the port. */
  readonly receive?: (port: number) => readonly string[];
}

const languages: Readonly<Record<string, Language>> = {
  python: { file: 'mail.py', run: ['python3', 'mail.py'] },
  php: {
    file: 'mail.php',
    run: ['php', 'mail.php'],
    receive: (port) => ['php', '-S', `127.0.0.1:${port}`, 'mail.php'],
  },
  ruby: { file: 'mail.rb', run: ['ruby', '-w', 'mail.rb'] },
  go: { file: 'mail.go', compile: ['go', 'build', '-o', 'mail', 'mail.go'], run: ['./mail'] },
  java: {
    file: 'Mail.java',
    compile: ['javac', '-Xlint:all,-serial', '-Werror', 'Mail.java'],
    run: ['java', '-XX:TieredStopAtLevel=1', 'Mail'],
  },
};

const shop = await FeedbackShop.open();
await shop.publish('note', '<p>{{Order Number}}</p>');
const key = await addKey(shop.database, shop.shop.id);
const proxy = await FaultyProxy.start(shop.service.url);
const [oldSecret, secret] = [newWebhookSecret(), newWebhookSecret()];
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  SIGNALPOST_URL: proxy.url,
  SIGNALPOST_ACCOUNT: shop.shop.id,
  SIGNALPOST_API_KEY: key,
  WEBHOOK_SECRET: `${secret} ${oldSecret}`,
};

before(async () => {
  for (const [name, { file, compile }] of Object.entries(languages)) {
    const [block] = codeBlocks(root, `docs/${name}.md`).filter(
      ({ above }) => above === `<!-- run in test-system: ${name} -->`,
    );
    await writeFile(join(folder, file), block?.text ?? '');
    if (compile === undefined) continue;
    const [program = '', ...args] = compile;
    await run(program, args, { cwd: folder, env: { ...env, GOFLAGS: '-mod=mod' } });
  }
});

async function send(language: Language, to: string, values: object) {
  const [program = '', ...args] = [...language.run, 'note', to, JSON.stringify(values)];
  return await run(program, args, { cwd: folder, env }).then(
    ({ stdout }) => ({ id: stdout.trim(), error: '' }),
    ({ stdout, stderr }) => ({ id: stdout.trim(), error: String(stderr) }),
  );
}

async function storedCount(to: string): Promise<number> {
  const { rows } = await shop.database.pool.query(
    `select count(*)::int as count from message where content ->> 'to' = $1`,
    [to],
  );
  return rows[0].count;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts the program's webhook handler. @returns a function that posts to it, and the lines that it prints */
async function receive(language: Language) {
  const port = await freePort();
  const [program = '', ...args] = language.receive?.(port) ?? [
    ...language.run,
    'receive',
    String(port),
  ];
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
  after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const post = (headers: Readonly<Record<string, string>>, body: string) =>
    fetch(`http://127.0.0.1:${port}/hooks/mail`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    }).then(({ status }) => status);
  await waitFor('the handler', () => post({}, '{}').catch(() => undefined));
  return { post, next: async () => String((await lines.next()).value) };
}

/** Written so that parsing and printing it again would change the bytes. */
const body = '{ "type":"message.delivered",  "data": {"messageId":"m-\\u0031"} }';
const now = () => Math.floor(Date.now() / 1_000);

for (const [name, language] of Object.entries(languages)) {
  test(`${name}: a send whose response is lost arrives once`, async () => {
    const faults = ['cut after', '503'] as const;
    let at = 0;
    proxy.nextFault = () => faults[at++] ?? 'none';
    const to = `${name}@people.test`;
    const { id, error } = await send(language, to, { 'Order Number': 'Ä-1 "x"' });
    assert.match(id, /^[0-9a-f-]{36}$/, error);
    assert.equal(at, 3);
    assert.equal(await storedCount(to), 1);
    await waitFor('the delivery', async () => (await shop.state(id)) === 'delivered');
  });

  test(`${name}: an error that time won’t mend names the field, and isn’t repeated`, async () => {
    const { requests } = proxy;
    const { id, error } = await send(language, `${name}-error@people.test`, {});
    assert.equal(id, '');
    assert.match(error, /PERSONALIZATION_FAILURE.*Order Number/s);
    assert.equal(proxy.requests, requests + 1);
  });

  test(`${name}: a webhook is taken with either secret of a rotation, and with no other`, async () => {
    const { post, next } = await receive(language);
    for (const one of [secret, oldSecret]) {
      assert.equal(await post(signWebhook('e-1', now(), body, [one]), body), 204);
      assert.match(await next(), /^message\.delivered/);
    }
    assert.equal(await post(signWebhook('e-1', now(), body, [newWebhookSecret()]), body), 401);
    const tampered = body.replace('m-', 'n-');
    assert.equal(await post(signWebhook('e-1', now(), body, [secret]), tampered), 401);
    assert.equal(await post(signWebhook('e-1', now() - 301, body, [secret]), body), 401);
    assert.equal(await post({ 'webhook-signature': 'v1,' }, body), 401);
  });
}

test('the console’s examples in these languages send, as they are shown', async (context) => {
  const facts = { url: shop.service.url, accountId: shop.shop.id, templateId: 'note' };
  for (const id of ['python', 'php', 'ruby', 'go'] as const) {
    await context.test(id, async () => {
      const to = `console-${id}@people.test`;
      const values = { 'Order Number': 'Ä-1 "x" \'y\' \\ `z`' };
      const found = snippets({ ...facts, values, to, attached: true }, key);
      const { messageId } = JSON.parse(await runSnippet(found, id, folder));
      assert.equal(await storedCount(to), 1);
      const { rows } = await shop.database.pool.query(
        `select content -> 'values' ->> 'Order Number' as value from message where id = $1`,
        [messageId],
      );
      assert.equal(rows[0]?.value, values['Order Number']);
      // A refusal is a failure of the program.
      const refused = snippets({ ...facts, values, to }, 'sp_wrong');
      await assert.rejects(runSnippet(refused, id, folder));
    });
  }
});
