import assert from 'node:assert/strict';
import { addKey } from './api-key.ts';
import { FeedbackShop } from './feedback-shop.ts';
import { ManagementClient } from './management-client.ts';
import { SmtpClient } from './smtp-client.ts';
import { TestDns } from './test-dns.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

export interface RepliedMessage {
  readonly id: string;
  readonly replyTo: string;
}

/** A reply without attachments. */
export function plainReply(fields: Readonly<Record<string, string>> = {}, body = 'Thanks'): string {
  const all = {
    From: 'Ada <ada@customer.test>',
    Subject: 'Re: News',
    Date: 'Thu, 26 Nov 2026 10:00:00 +0000',
    'Message-ID': `<${Math.random()}@customer.test>`,
    ...fields,
  };
  const lines = Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}\r\n`);
  return `${lines.join('')}\r\n${body}\r\n`;
}

/** A shop whose service receives mail and whose webhooks go to a receiver of the test; its own mail stays in the inbox. */
export class ReplyShop {
  readonly shop: FeedbackShop;
  readonly dns: TestDns;
  readonly hook: WebhookReceiver;
  readonly manage: ManagementClient;
  readonly key: string;
  readonly port: number;

  private constructor(fields: Omit<ReplyShop, 'send' | 'reply' | 'deliver' | 'rows'>) {
    this.shop = fields.shop;
    this.dns = fields.dns;
    this.hook = fields.hook;
    this.manage = fields.manage;
    this.key = fields.key;
    this.port = fields.port;
  }

  static async open(): Promise<ReplyShop> {
    const dns = await new TestDns().start();
    const shop = await FeedbackShop.open({
      BOUNCE_PORT: '0',
      BOUNCE_HOST: '127.0.0.1',
      DNS_SERVERS: dns.server,
      WEBHOOK_NETWORKS: '127.0.0.0/8',
    });
    await shop.publish('note', '<p>Note</p>');
    const hook = await WebhookReceiver.open();
    const key = await addKey(shop.database, shop.shop.id);
    const manage = new ManagementClient(shop.service, key);
    const added = await manage.post(`/accounts/${shop.shop.id}/webhooks`, {
      url: hook.url,
      kinds: ['replied', 'bounced'],
    });
    assert.equal(added.status, 201, added.text);
    const port = shop.service.app.bouncePort() ?? 0;
    return new ReplyShop({ shop, dns, hook, manage, key, port });
  }

  /** Sends a message that receives replies, and reads its Reply-To from its mail. */
  async send(options: Parameters<FeedbackShop['send']>[1] = {}): Promise<RepliedMessage> {
    const { id, mail } = await this.shop.send('note', { ...options, receiveReplies: true });
    return { id, replyTo: mail.headers['reply-to']?.[0] ?? '' };
  }

  /** Mails to an address. @returns the reply of the server */
  async deliver(
    to: string,
    source: string,
    mail = 'MAIL FROM:<ada@customer.test>',
  ): Promise<string> {
    const client = await SmtpClient.open({ port: this.port });
    await client.greet();
    const reply = await client.submit([to], source, mail);
    await client.end();
    return reply;
  }

  /** Replies to a message and waits for the webhook. */
  async reply(message: RepliedMessage, source = plainReply(), mail?: string) {
    const before = new Set(await this.rows(message.id));
    assert.match(await this.deliver(message.replyTo, source, mail), /^250 /);
    const [id = ''] = (await this.rows(message.id)).filter((row) => !before.has(row));
    const { text, body } = await this.hook.waitFor(id);
    return { id, text, event: body, reply: body.data.reply as Record<string, unknown> };
  }

  /** The IDs of the stored replies to a message. */
  async rows(messageId: string): Promise<string[]> {
    const { rows } = await this.shop.database.pool.query<{ id: string }>(
      'select id from message_reply where message_id = $1 order by id',
      [messageId],
    );
    return rows.map(({ id }) => id);
  }
}
