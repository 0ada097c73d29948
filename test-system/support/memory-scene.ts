import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startSink } from '../../test/support/mail-sink.ts';
import { sendFile } from '../../test/support/send-file.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { ControlGroup } from './control-group.ts';
import { FaultScene, repeatAtOnce } from './fault-scene.ts';

const limitMebibytes = 512;
const mebibyte = 1_024 * 1_024;
const burstAtOnce = 200;

export interface MemoryBurst {
  readonly messages: number;
  /** Messages with an attachment of 9 MiB, all at once. */
  readonly files: number;
  readonly timeoutMs: number;
}

/** Tests that a burst of messages and files doesn't get an installation killed that runs in 512 MiB with its database. */
export function testBurst({ messages, files, timeoutMs }: MemoryBurst): void {
  const group = ControlGroup.open('memory', { memoryBytes: limitMebibytes * mebibyte });
  const options = {
    skip: group === undefined && 'only root can create a control group',
    timeout: timeoutMs,
  };
  const name = `in ${limitMebibytes} MiB, the service and its database take ${messages} messages and ${files} of 9 MiB at once`;
  test(name, options, (t) => (group === undefined ? undefined : runBurst(t, group)));

  async function runBurst(t: TestContext, group: ControlGroup): Promise<void> {
    const arrived = new Map<string, number>();
    /** Keeps IDs only. */
    const sink = await startSink({
      options: {
        async onData(stream, _session, callback) {
          let head = '';
          for await (const chunk of stream) if (head.length < 4_096) head += chunk;
          const id = /^Message-ID: <([^@]+)@/m.exec(head)?.[1] ?? '';
          arrived.set(id, (arrived.get(id) ?? 0) + 1);
          callback();
        },
      },
    });
    const scene = await FaultScene.start({
      sink,
      wrap: (program, args) => group.command(program, args),
    });
    const send = async (number: number): Promise<void> => {
      while ((await scene.send(number)).status !== 200) await delay(500);
    };
    const sendOneFile = async (number: number): Promise<void> => {
      for (;;) {
        const { status, messageId } = await sendFile({
          url: `${scene.url}/ete/v1/email/1000/receipt`,
          token: scene.token,
          to: `file-${number}@example.test`,
          personalizationDataMap: { 'Order Number': 'A', 'Delivery Address': 'Here' },
          mebibytes: 9,
        }).catch(() => ({ status: 0, messageId: '' }));
        if (status === 200) {
          scene.accepted.add(messageId);
          return;
        }
        assert.equal(status, 503);
        await delay(500);
      }
    };
    const ended = scene.service.exit.then((code) => assert.fail(`the service ended: ${code}`));
    const burst = Promise.all([
      repeatAtOnce(messages, burstAtOnce, send),
      repeatAtOnce(files, files, sendOneFile),
    ]);
    await Promise.race([burst, ended]);
    assert.equal(scene.accepted.size, messages + files);
    const all = waitFor(
      'all messages',
      () => [...scene.accepted].every((id) => arrived.has(id)),
      timeoutMs,
    );
    await Promise.race([all, ended]);
    t.diagnostic(
      `at most ${Math.round(group.peakBytes / mebibyte)} MiB with the files that the kernel keeps`,
    );
    assert.equal(group.kills, 0);
    assert.equal(await scene.readiness(), 'ready');
    assert.match(scene.log, /memory is limited to 512 MiB; bodies and attachments get 25% of/);
    assert.match(await scene.doctor('--production'), /^ok {3}memory +512 MiB for the service, so/m);

    // As the kernel would.
    const killed = scene.send('killed');
    scene.service.child.kill('SIGKILL');
    await killed;
    await scene.service.exit;
    await scene.startService();
    await waitFor(
      'the message to be accepted',
      async () => (await scene.send('killed')).status === 200,
    );
    await waitFor('all messages', () => [...scene.accepted].every((id) => arrived.has(id)));
  }
}
