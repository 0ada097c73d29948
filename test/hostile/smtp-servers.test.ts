import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, test } from 'node:test';
import { inboxServer } from '../../src/sending/delivery/smtp-server-settings.ts';
import { SmtpSession, SmtpSessionError } from '../../src/sending/delivery/smtp-session.ts';

const timeouts = {
  connect: 20_000,
  greeting: 20_000,
  command: 20_000,
  data: 20_000,
  final: 20_000,
};

for (const [what, flood] of [
  ['empty lines', '\n'.repeat(65_536)],
  ['replies', '250 OK\r\n'.repeat(8_192)],
] as const)
  test(`ASVS 4.0.3 12.1.1: a server that sends ${what} loses its connection, and holds nobody up`, async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      const send = (): boolean => socket.write(flood) && socket.writable;
      socket.on('drain', send);
      send();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    after(() => server.close());
    const delays = monitorEventLoopDelay({ resolution: 10 });
    delays.enable();
    const { port } = server.address() as AddressInfo;
    const session = SmtpSession.open(inboxServer(port), 'mail.test', timeouts);
    await assert.rejects(session, SmtpSessionError);
    delays.disable();
    assert.ok(delays.max / 1e6 < 5_000, `${delays.max / 1e6} ms`);
  });
