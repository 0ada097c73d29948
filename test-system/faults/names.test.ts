import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSink } from '../../test/support/mail-sink.ts';
import { openGate } from '../../test/support/tcp-gate.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { FaultScene } from '../support/fault-scene.ts';
import { NameService } from '../support/name-service.ts';

const options = {
  skip: !NameService.isAvailable && 'only root can give a program names of its own',
  timeout: 180_000,
};

test(
  'while names can’t be resolved, mail waits for the relay and sends get 503 if the database needs its name; then all arrives',
  options,
  async () => {
    const names = new NameService(['database.test']);
    const gate = await openGate((await createTestDatabase()).url);
    const sink = await startSink();
    const scene = await FaultScene.start({
      sink,
      databaseUrl: gate.url,
      environment: {
        DATABASE_URL: gate.url.replace('127.0.0.1', 'database.test'),
        SMTP_URL: `smtp://relay.test:${sink.port}?tls=off`,
      },
      wrap: (program, args) => names.command(program, args),
    });
    assert.equal((await scene.send(1)).status, 200);
    await waitFor('a deferral', async () => /outcome="deferred"/.test(await scene.outcomes()));
    assert.match(await scene.run('queue', 'list', '1000'), /EAI_AGAIN/);
    assert.match(await scene.doctor(), /^FAIL mail +the relay relay\.test:\d+ .*EAI_AGAIN/m);
    assert.equal(await scene.readiness(), 'ready');
    names.know(['relay.test', 'database.test']);
    await scene.waitForAccepted();

    names.know(['relay.test']);
    gate.close();
    gate.open();
    await waitFor('a refusal', async () => (await scene.send(3)).status === 503);
    assert.equal(await scene.readiness(), 'the database cannot be reached');
    assert.match(
      await scene.doctor(),
      /^FAIL database +Can’t use the database at database\.test:\d+\S*: .*EAI_AGAIN/m,
    );
    names.know(['relay.test', 'database.test']);
    await waitFor('a message to be accepted', async () => (await scene.send(4)).status === 200);
    await scene.waitForAccepted();
    assert.deepEqual(await scene.findUnrecordedCopies(), []);
  },
);
