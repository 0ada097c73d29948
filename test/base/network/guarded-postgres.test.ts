import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { connectToPostgres } from '../../../src/base/network/guarded-postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const authenticated = '5200000008' + '00000000' + '5a00000005' + '49';
const copyBoth = '5700000007' + '00' + '0000';
const message = '6400000006' + '0101';
const messages = 1_000_000;

test('ASVS 4.0.3 11.1.4: a server whose stream has no end takes a part of the time', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // Its start, and the statement.
    socket.once('data', () => {
      socket.write(Buffer.from(authenticated, 'hex'));
      socket.once('data', () => {
        socket.write(Buffer.from(copyBoth, 'hex'));
        socket.write(Buffer.alloc((messages * message.length) / 2, message, 'hex'));
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = await connectToPostgres(
    { host: '127.0.0.1', port, user: 'a', password: 'b', database: 'c', tls: false },
    '127.0.0.1',
    { applicationName: 'test', maxAnswerBytes: 1_000_000, replication: true },
  );
  after(() => {
    client.close();
    server.close();
  });
  let received = 0;
  await client.stream(['start'], () => {
    received += 1;
  });
  let before = 0;
  await waitFor('a pause', () => {
    const isPaused = received > 0 && received === before;
    before = received;
    return isPaused;
  });
  assert.ok(received < messages / 10, String(received));
  const paused = received;
  await waitFor('more of it', () => received > paused);
});
