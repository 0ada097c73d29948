import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { createDelivery } from '../../src/delivery/deliver-message.ts';
import { RelayTransport } from '../../src/delivery/relay-transport.ts';
import { readSmtpServers } from '../../src/delivery/smtp-server-settings.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { openDatabase } from '../../src/foundation/database/open-database.ts';
import { ClaimStore } from '../../src/queue/claim-store.ts';
import { CompleteStore } from '../../src/queue/complete-store.ts';
import { LeaseStore } from '../../src/queue/lease-store.ts';
import { defaultWorkerOptions, Worker } from '../../src/queue/worker.ts';
import { loadTemplate } from '../../src/rendering/load-template.ts';
import { readDkimKey } from '../../src/sender/dkim-key.ts';
import { signMessage } from '../../src/signing/sign-message.ts';
import { readCompiled } from '../../src/template/template-store.ts';

/** One worker process as `serve --role worker` has it: `bench-worker.ts DATABASE_URL SMTP_URL KEY_FILE`. */
const [url = '', smtpUrl = '', keyFile = ''] = process.argv.slice(2);
const database = openDatabase({ url });
const log = pino({ level: 'warn' });
const keys = [readDkimKey('shop.test', 'bench', readFileSync(keyFile, 'utf8'))];
const { leaseMilliseconds } = defaultWorkerOptions;
const compiled = await readCompiled(database.kysely, '46100' as never, 't-0001' as never, 1);
if (compiled === undefined) throw new Error('there is no template');
const template = loadTemplate(compiled.compiled);
const transport = new RelayTransport(readSmtpServers(smtpUrl), {});
const worker = new Worker({
  stores: {
    claims: new ClaimStore(database, systemClock, leaseMilliseconds),
    leases: new LeaseStore(database, systemClock, leaseMilliseconds),
    outcomes: new CompleteStore(database, systemClock),
  },
  attempt: createDelivery({
    findVersion: () => template,
    transport,
    staging: { redirect: undefined, allow: [] },
    log,
    findIdentity: async () => ({
      sign: (raw, signedAt) => signMessage(raw, keys, { signedAt }),
      returnPath: () => 'orders@shop.test',
    }),
  }),
  clock: systemClock,
  log,
});
process.send?.('ready');
process.on('message', async (message) => {
  if (message === 'start') worker.start();
  if (message === 'wake') worker.wake('46100' as never);
  if (message !== 'stop') return;
  await worker.stop();
  await transport.close();
  await database.close();
  process.disconnect();
});
