import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { FaultScene, PersistentSenders } from '../support/fault-scene.ts';

const openFiles = 256;
const strangers = 1_000;
const sockets: Socket[] = [];
after(() => {
  for (const socket of sockets) socket.destroy();
});
const { url } = await createTestDatabase();
const scene = await FaultScene.start({
  environment: { DATABASE_URL: url },
  wrap: (program, args) => ['prlimit', [`--nofile=${openFiles}:${openFiles}`, program, ...args]],
});

/** Opens a connection from an address of its own, and keeps it. */
function openFrom(number: number): Promise<void> {
  const { hostname, port } = new URL(scene.url);
  const localAddress = `127.0.1.${1 + (number % 250)}`;
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  socket.on('error', () => undefined);
  sockets.push(socket);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve());
    socket.once('close', () => resolve());
  });
}

test('strangers that open more connections than files can be open stop neither sends nor deliveries, and operators learn which limit to raise', {
  timeout: 120_000,
}, async (t) => {
  assert.match(
    scene.log,
    /LimitNOFILE=65536.*the limit of 256 open files allows only 128 connections/,
  );
  const senders = new PersistentSenders(scene, 8);
  t.after(() => senders.stop());
  await waitFor('some messages', () => senders.done.size > 20);
  await Promise.all(Array.from({ length: strangers }, (_, number) => openFrom(number)));
  const { size } = senders.done;
  await waitFor('sends beside the strangers', () => senders.done.size > size + 100);
  assert.equal(await scene.readiness(), 'ready');
  await waitFor(
    'the end of most strangers',
    () => sockets.filter(({ closed }) => !closed).length <= openFiles,
  );
  await senders.stop();
  await scene.waitForAccepted();
  assert.deepEqual(await scene.findUnrecordedCopies(), []);
  assert.doesNotMatch(scene.log, /EMFILE/);
  assert.match(
    await scene.doctor('--production'),
    /^FAIL limits +256 open files.*\n.*LimitNOFILE=65536/m,
  );
});
