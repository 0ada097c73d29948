import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import type { TemplateSource } from '../../src/content/template/template-source.ts';
import { addKey } from '../../test/support/api-key.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { type CapturedMail, readInbox } from '../../test/support/inbox-client.ts';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { publishShopTemplate } from '../../test/support/shop.ts';
import { submissionEnvironment } from '../../test/support/submission-shop.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const root = join(import.meta.dirname, '../..');

/** A service for the apps of `docs/frameworks`, over HTTP and over SMTP with STARTTLS; its mail stays in the inbox. */
export async function openFrameworkShop() {
  const { environment, authority } = await submissionEnvironment();
  const shop = await FeedbackShop.open(environment);
  const scopes = ['messages:send', 'messages:send-content'] as const;
  const key = await addKey(shop.database, shop.shop.id, { scopes });
  const ca = join(temporaryFolder(), 'ca.pem');
  await writeFile(ca, authority.ca);
  /** What the pages read: their variables, and the authority of the certificate of SMTP. */
  const env = {
    SIGNALPOST_URL: shop.service.url,
    SIGNALPOST_API_KEY: key,
    SMTP_HOST: 'localhost',
    SMTP_PORT: String(shop.service.app.submissionPorts().port),
    SMTP_USER: shop.shop.id,
    SMTP_PASSWORD: key,
  };
  /** Waits for the mail to an address with a subject. */
  const mailTo = (to: string, subject: string): Promise<CapturedMail> =>
    waitFor(`a mail to ${to}`, async () => {
      const mails = await readInbox(shop.service.url, `?to=${encodeURIComponent(to)}&wait=10`);
      return mails.find((mail) => mail.subject === subject);
    });
  /** How many messages to an address were accepted. */
  const countTo = async (address: string): Promise<number> => {
    const { rows } = await shop.database.pool.query(
      `select count(*)::int as count from message where content ->> 'to' = $1`,
      [address],
    );
    return rows[0].count;
  };
  return {
    shop,
    env,
    ca,
    mailTo,
    countTo,
    /** Waits for the receipt that the pages with SMTP send, with both parts and once. */
    async requireReceipt(to: string): Promise<void> {
      const mail = await mailTo(to, 'Your order A-1001');
      assert.deepEqual(mail.headers.from, ['Demo Shop <orders@shop.test>']);
      assert.equal(mail.text?.trim(), 'Thank you, Ada.');
      assert.equal(mail.html?.trim(), '<p>Thank you, <b>Ada</b>.</p>');
      assert.equal(await countTo(to), 1);
    },
    async suppress(address: string): Promise<void> {
      await shop.database.pool.query(
        `insert into suppression (account_id, address, reason) values ($1, $2, 'hard_bounce')`,
        [shop.shop.id, address],
      );
    },
  };
}

/** Publishes the templates in the YAML of a page, each also under other IDs. */
export async function publishTemplates(
  shop: FeedbackShop,
  page: string,
  otherIds: readonly string[] = [],
): Promise<void> {
  const yaml = codeBlocks(root, page).find(({ language }) => language === 'yaml')?.text;
  const templates = parse(yaml ?? '[]') as (TemplateSource & { id: string; sender: string })[];
  for (const { id: ownId, sender, ...rest } of templates)
    for (const id of [ownId, ...otherIds]) {
      const source = { previewText: '', ...rest };
      await publishShopTemplate(shop.database, shop.shop, { id, sender, source });
    }
}

/** Writes the files of a page's app: the blocks whose first line is a comment with a path. @returns their paths */
export async function writeFiles(page: string, folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (const { text } of codeBlocks(root, page)) {
    const [, path] = /^(?:<\?php\n)?(?:\/\/|#) ([\w./[\]-]+\.\w+)\n/.exec(text) ?? [];
    if (path === undefined) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${text}\n`);
    paths.push(path);
  }
  return paths;
}
