import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { type Running, runSignalpost } from '../../test/support/run-signalpost.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { blockWith, runShell } from '../support/deployment.ts';

const folder = temporaryFolder();
const dataDir = copyDataFolder('started', join(folder, 'data'));

async function start(): Promise<{ readonly running: Running; readonly url: string }> {
  const running = runSignalpost(['start'], { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' });
  const [, url = ''] = await running.printed(/Service\s+(http:\/\/\S+)/);
  return { running, url };
}

async function stop(running: Running): Promise<void> {
  running.child.kill('SIGTERM');
  assert.equal(await running.exit, 0);
}

test('a copy of the stopped data folder replaces a lost one', async () => {
  const first = await start();
  const [, key = ''] =
    /DEMO_API_KEY='?([^'\s]+)/.exec(readFileSync(join(dataDir, 'demo.env'), 'utf8')) ?? [];
  await stop(first.running);
  const command = blockWith('docs/operate/back-up.md', 'cp -a');
  await runShell(`DATA_DIR=${dataDir}\n${command}`, folder);
  await runShell(`rm -r ${dataDir}; cp -a signalpost-backup ${dataDir}`, folder);
  const second = await start();
  const response = await sendRequest(`${second.url}/ete/v1/email/1000/receipt`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      envelope: { toAddress: 'ada@customer.example' },
      content: { personalizationDataMap: { 'Order Number': 'A-1001', Total: '24.90' } },
      metadata: { transactional: true },
      actions: { trackOpens: false, trackClicks: false },
    }),
  });
  assert.equal(response.status, 200, response.text);
  await stop(second.running);
});
