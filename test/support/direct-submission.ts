import assert from 'node:assert/strict';
import { authenticate } from 'mailauth';
import { addKey } from './api-key.ts';
import { DirectShop } from './direct-shop.ts';
import { SmtpClient } from './smtp-client.ts';
import { submissionEnvironment } from './submission-shop.ts';
import type { TestMxOptions } from './test-mx.ts';
import { readTestResolver } from './test-resolver.ts';
import { waitFor } from './wait-for.ts';

/**
 * A shop with SMTP submission that delivers to a host for `people.test`, with or without extensions.
 * @param source a loopback address to deliver from
 */
export async function openDirectSubmission(source: string, mx: TestMxOptions) {
  const { environment, files, authority } = await submissionEnvironment();
  const direct = await DirectShop.open(`${source}=mail.sender.test`, mx, environment);
  direct.zones
    .set('mail.sender.test', { A: [source] })
    .set('people.test', { MX: [[10, 'mx.people.test']] })
    .set('mx.people.test', { A: [mx.address] });
  const key = await addKey(direct.database, direct.shop.id, {
    scopes: ['messages:send', 'messages:send-content'],
  });
  const { port = 0, tlsPort = 0 } = direct.service.app.submissionPorts();
  const submit = async (to: string, message: string, mail?: string): Promise<string> => {
    const client = await SmtpClient.open({ port: tlsPort, tls: true });
    await client.greet();
    await client.login(direct.shop.id, key);
    const reply = await client.submit([to], message, mail);
    await client.end();
    assert.match(reply, /^250 /, reply);
    return reply.slice(-36);
  };
  const mailTo = async (to: string) => {
    const mail = await waitFor(`the mail to ${to}`, () =>
      direct.mx.mails.find((found) => found.to.includes(to)),
    );
    return { ...mail, bytes: Buffer.from(mail.source, 'latin1') };
  };
  const dkimOf = async (bytes: Buffer, peer: string): Promise<unknown> => {
    const { dkim } = await authenticate(bytes, {
      ip: peer,
      helo: 'mail.sender.test',
      sender: 'x@bounces.shop.test',
      resolver: readTestResolver(direct.zones),
    });
    return dkim.results.map((result: { status: { result: string } }) => result.status.result);
  };
  return { direct, key, port, tlsPort, files, authority, submit, mailTo, dkimOf };
}
