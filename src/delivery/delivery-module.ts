import type { Registry } from 'prom-client';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import { ClaimStore } from '../queue/claim-store.ts';
import { CompleteStore } from '../queue/complete-store.ts';
import { DeferStore } from '../queue/defer-backlog-store.ts';
import { LeaseStore } from '../queue/lease-store.ts';
import { registerQueueMetrics } from '../queue/queue-metrics.ts';
import { QueueSizeStore } from '../queue/queue-size-store.ts';
import { defaultWorkerOptions, Worker, type WorkerOptions } from '../queue/worker.ts';
import { createDeferBacklog } from './defer-backlog.ts';
import { createDelivery } from './deliver-message.ts';
import type { DecorateMail, FindVersion } from './prepare-mail.ts';
import { RelayTransport } from './relay-transport.ts';
import type { StagingRules } from './route-recipients.ts';
import type { FindIdentity } from './sending-identity.ts';
import { simulateOutcomes } from './simulate-outcomes.ts';
import { type PoolOptions, SmtpPool } from './smtp-pool.ts';
import { inboxServer, readSmtpServers } from './smtp-server-settings.ts';
import type { Transport } from './transport.ts';

export interface DeliveryModuleDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
  readonly findVersion: FindVersion;
  readonly decorate?: DecorateMail | undefined;
  readonly staging: StagingRules;
  readonly findIdentity?: FindIdentity;
  /** Made when the room starts, since the inbox's port is known only then. */
  readonly createTransport: () => Transport;
  readonly worker?: Partial<WorkerOptions>;
}

/** The worker of this process with its transport. */
export interface DeliveryModule {
  /** Says that an account has a message that is due now. Before `start`, the first poll finds it. */
  wake(accountId: AccountId): void;
  start(): void;
  /** Claims no more, finishes what is being sent, gives the other leases back. */
  stop(): Promise<void>;
}

/** Connects queue, rendering and a transport. */
export function createDeliveryModule(dependencies: DeliveryModuleDependencies): DeliveryModule {
  const { database, clock, log } = dependencies;
  const options = { ...defaultWorkerOptions, ...dependencies.worker };
  let transport: Transport | undefined;
  let worker: Worker | undefined;
  const onWritten = registerQueueMetrics(
    dependencies.metrics,
    new QueueSizeStore(database),
    clock,
    () => worker?.busy ?? 0,
    log,
  );
  return {
    wake: (accountId) => worker?.wake(accountId),
    start() {
      transport = simulateOutcomes(dependencies.createTransport());
      worker = new Worker({
        stores: {
          claims: new ClaimStore(database, options.leaseMs),
          leases: new LeaseStore(database, options.leaseMs),
          outcomes: new CompleteStore(database),
        },
        attempt: createDelivery({
          ...dependencies,
          transport,
          deferBacklog: createDeferBacklog(new DeferStore(database), log),
        }),
        clock,
        log,
        options,
        onRecorded: onWritten,
        dropConnections: () => transport?.drop(),
      });
      worker.start();
    },
    async stop() {
      await worker?.stop();
      await transport?.close();
    },
  };
}

/** Beside those on a connection: messages that are rendered, wait for a connection or whose outcome is written. */
const minExtraSlots = 30;
const maxExtraSlots = 75;

/**
 * Messages under way at the same time for so many connections: enough that no connection waits, and few enough that each
 * leaves soon. What waits in a process that is busy anyway costs it more the longer it waits, since the collector of young
 * garbage moves it and that of old garbage has to find it.
 */
function slotsFor(connections: number): number {
  return connections + Math.max(minExtraSlots, Math.min(3 * connections, maxExtraSlots));
}

/** Messages under way at the same time where they go to the relays of SMTP_URL, or to the inbox without it. */
export function relaySlots(smtpUrl: string | undefined): number {
  const servers = smtpUrl === undefined ? [inboxServer(0)] : readSmtpServers(smtpUrl);
  return slotsFor(Math.max(...servers.map(({ connections }) => connections)));
}

/** The transport to the inbox inside this service. */
export function createInboxTransport(port: number, options: PoolOptions): Transport {
  return new SmtpPool(inboxServer(port), options);
}

/**
 * The transport to the relays of SMTP_URL.
 * @throws OperatorError where the address cannot be read
 */
export function createRelayTransport(smtpUrl: string, options: PoolOptions): Transport {
  return new RelayTransport(readSmtpServers(smtpUrl), options);
}
