import { pino } from 'pino';
import { openDatabase } from '../../src/base/database/open-database.ts';
import { loadTemplate } from '../../src/content/rendering/load-template.ts';
import { readCompiled } from '../../src/content/template/template-store.ts';
import { createDelivery } from '../../src/sending/delivery/deliver-message.ts';
import { SmtpPool } from '../../src/sending/delivery/smtp-pool.ts';
import { inboxServer } from '../../src/sending/delivery/smtp-server-settings.ts';
import { ClaimStore } from '../../src/sending/queue/claim-store.ts';
import { LeaseStore } from '../../src/sending/queue/lease-store.ts';
import { Worker } from '../../src/sending/queue/worker.ts';
import { plainDelivery } from './plain-delivery.ts';

/**
 * A worker in a separate process, for tests that kill it: `worker-process.ts DATABASE_URL SMTP_PORT LEASE_MS [POISON]`. A
 * message to POISON ends it.
 */
const [url = '', port = '', lease = '', poison = ''] = process.argv.slice(2);
const leaseMs = Number(lease);
const database = openDatabase({ url });
const log = pino({ level: 'silent' });
const deliver = createDelivery({
  ...plainDelivery,
  findVersion: async (accountId, templateId, version) => {
    const [row] = await readCompiled(database.kysely, [{ accountId, templateId, version }]);
    return row && loadTemplate(row.compiled);
  },
  transport: new SmtpPool(inboxServer(Number(port))),
  staging: { redirect: undefined, allow: [] },
  log,
});
const worker = new Worker({
  claims: new ClaimStore(database, leaseMs),
  leases: new LeaseStore(database, leaseMs),
  attempt: (message, lease) => {
    if (poison !== '' && JSON.stringify(message.content).includes(poison)) process.exit(1);
    return deliver(message, lease);
  },
  log,
  options: { leaseMs, pollMs: 100 },
});
worker.start();
