import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { addKey } from './api-key.ts';
import { FeedbackShop } from './feedback-shop.ts';
import { SmtpClient, type SmtpClientOptions } from './smtp-client.ts';
import { TestAuthority } from './test-certificates.ts';

/** A running service with a shop and SMTP submission on both ports; its mail stays in the inbox. */
export interface SubmissionShop {
  readonly shop: FeedbackShop;
  /** May send. */
  readonly key: string;
  readonly port: number;
  readonly tlsPort: number;
  /** The certificate's authority, and its files. */
  readonly ca: string;
  readonly files: { readonly cert: string; readonly key: string };
  /** A session with TLS that isn't logged in. */
  open(options?: Partial<SmtpClientOptions>): Promise<SmtpClient>;
  /** A session that is logged in. */
  login(options?: Partial<SmtpClientOptions>): Promise<SmtpClient>;
}

/** Settings that open both ports on free ports, with a certificate. */
export async function submissionEnvironment() {
  const folder = await mkdtemp(join(tmpdir(), 'signalpost-submission-'));
  after(() => rm(folder, { recursive: true, force: true }));
  const authority = new TestAuthority();
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const issued = authority.issue(['localhost']);
  await writeFile(files.cert, issued.cert);
  await writeFile(files.key, issued.key);
  const environment = {
    SUBMISSION_PORT: '0',
    SUBMISSION_TLS_PORT: '0',
    SUBMISSION_HOST: '127.0.0.1',
    SUBMISSION_TLS_CERT: files.cert,
    SUBMISSION_TLS_KEY: files.key,
  };
  return { environment, files, authority };
}

export async function openSubmissionShop(
  more: Readonly<Record<string, string>> = {},
): Promise<SubmissionShop> {
  const { environment, files, authority } = await submissionEnvironment();
  const shop = await FeedbackShop.open({ ...environment, ...more });
  const { port = 0, tlsPort = 0 } = shop.service.app.submissionPorts();
  const open = async (options?: Partial<SmtpClientOptions>): Promise<SmtpClient> => {
    const client = await SmtpClient.open({ port: tlsPort, tls: true, ...options });
    await client.greet();
    return client;
  };
  const key = await addKey(shop.database, shop.shop.id, {
    scopes: ['messages:send', 'messages:send-content'],
  });
  return {
    shop,
    key,
    port,
    tlsPort,
    ca: authority.ca,
    files,
    open,
    async login(options) {
      const client = await open(options);
      const reply = await client.login(shop.shop.id, key);
      if (!reply.startsWith('235')) throw new Error(`no login: ${reply}`);
      return client;
    },
  };
}

/** A message with a template and its values. */
export function templateMail(
  values: unknown = { 'Order Number': 'A-1001' },
  fields: Readonly<Record<string, string>> = {},
): string {
  const all = {
    From: 'Demo Shop <orders@shop.test>',
    'Content-Type': 'application/json',
    'X-Signalpost-Template': 't-0001',
    ...fields,
  };
  const lines = Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`);
  return `${lines.join('\r\n')}\r\n\r\n${typeof values === 'string' ? values : JSON.stringify(values)}`;
}
