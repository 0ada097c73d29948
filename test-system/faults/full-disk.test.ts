import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { getDemoToken } from '../../test/support/demo-token.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { openSmallDisk } from '../../test/support/small-disk.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const disk = await openSmallDisk();
after(() => disk.remove());
const dataDir = join(disk.path, 'data');
const timeoutMs = 60_000;

test('a full disk loses no message that got a 200, and the service recovers when space is available', {
  skip: !disk.canFill && 'only root can mount a separate disk for the database',
  timeout: 4 * timeoutMs,
}, async () => {
  copyDataFolder('started', dataDir);
  const sink = await startSink();
  const service = runSignalpost(['start'], {
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'silent',
    SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off`,
  });
  const [, url = ''] = await service.printed(/Service\s+(http:\/\/\S+)/);
  const token = await getDemoToken(url, dataDir);
  const accepted: string[] = [];
  const send = async (number: number): Promise<{ status: number; message?: string }> => {
    const response = await fetch(`${url}/ete/v1/email/1000/receipt`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        envelope: { toAddress: `reader-${number}@example.test` },
        // Incompressible data, so that the database soon needs new pages.
        content: {
          personalizationDataMap: {
            'Order Number': `A-${number}`,
            'Delivery Address': Array.from({ length: 2_000 }, () => Math.random()).join(' '),
          },
        },
        actions: { trackOpens: false, trackClicks: false },
      }),
    });
    const body = (await response.json()) as { messageId: string; message: string };
    if (response.status === 200) accepted.push(body.messageId);
    return { status: response.status, message: body.message };
  };

  assert.equal((await send(1)).status, 200);
  await disk.fill();
  let number = 1;
  const refused = await waitFor(
    'a refusal',
    async () => {
      number += 1;
      const response = await send(number);
      return response.status !== 200 && response;
    },
    timeoutMs,
  );
  assert.deepEqual(refused, { status: 503, message: 'IO Exception was encountered' });
  disk.free();
  await waitFor(
    'messages to be accepted again',
    async () => (await send(0)).status === 200,
    timeoutMs,
  );
  const idOf = (source: string) => /^Message-ID: <([^@]+)@/m.exec(source)?.[1] ?? '';
  await waitFor(
    'all messages',
    () => new Set(sink.mails.map(({ source }) => idOf(source))).size >= accepted.length,
    2 * timeoutMs,
  );
  const copies = sink.mails.map(({ source }) => idOf(source));
  for (const id of accepted) assert.ok(copies.includes(id), `${id} was lost`);
});
