import type { Registry } from 'prom-client';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { Tracing } from '../../base/telemetry/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { AttachmentStore } from '../../content/message/attachment-store.ts';
import { isTestClass } from '../../content/message/test-class.ts';
import { DueAnnouncer, dueTopic } from '../queue/announce-due.ts';
import { ClaimStore } from '../queue/claim-store.ts';
import { LeaseStore } from '../queue/lease-store.ts';
import { registerQueueMetrics } from '../queue/queue-metrics.ts';
import { defaultWorkerOptions, Worker, type WorkerOptions } from '../queue/worker.ts';
import { createCheckDue, type DueFacts } from './check-due-message.ts';
import { createDeferBacklog } from './defer-backlog.ts';
import { createDelivery, type DeliveryDependencies } from './deliver-message.ts';
import { findTestIdentity } from './find-identity.ts';
import { AttachmentLoader } from './load-attachments.ts';
import { RelayTransport } from './relay-transport.ts';
import { simulateOutcomes } from './simulate-outcomes.ts';
import { type PoolOptions, SmtpPool } from './smtp-pool.ts';
import { inboxServer, readSmtpServers } from './smtp-server-settings.ts';
import { traceAttempts } from './trace-attempt.ts';
import type { Transport } from './transport.ts';

type AttemptDependencies = 'findVersion' | 'decorate' | 'staging' | 'findIdentity' | 'log';

export interface DeliveryModuleDependencies
  extends Pick<DeliveryDependencies, AttemptDependencies>,
    DueFacts {
  readonly database: Database;
  readonly changes: Pick<ChangeListener, 'subscribe'>;
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly attachments: AttachmentStore;
  /** Called at startup, because the inbox's port isn't known earlier. */
  readonly createTransport: () => Transport;
  /** To the inbox of the account. */
  readonly testTransport: Transport;
  readonly worker: Partial<WorkerOptions>;
  /** From `memoryShare`. */
  readonly memoryShare: number;
  /** Undefined: attempts aren't traced. */
  readonly tracing: Tracing | undefined;
  /** Called when events of messages are recorded. */
  readonly onRecorded: () => void;
}

/** Connects the queue, rendering and a transport: this process's worker. */
export function createDeliveryModule(dependencies: DeliveryModuleDependencies) {
  const { database, clock, log, metrics } = dependencies;
  const options = { ...defaultWorkerOptions, ...dependencies.worker };
  let transport: Transport | undefined;
  let worker: Worker | undefined;
  /** Messages being sent. */
  const inFlight = () => worker?.busy ?? 0;
  const onWritten = registerQueueMetrics(metrics, database, clock, inFlight, log);
  const announcer = new DueAnnouncer(database, log);
  dependencies.changes.subscribe(dueTopic, () => worker?.pollSoon());
  return {
    inFlight,
    /** Signals that an account has a message due now, to other processes if this one isn't started. */
    wake(accountId: AccountId): void {
      if (worker === undefined) announcer.announce();
      else worker.wake(accountId);
    },
    start(): void {
      transport = simulateOutcomes(dependencies.createTransport());
      const shared = {
        ...dependencies,
        attachments: new AttachmentLoader(dependencies.attachments, dependencies.memoryShare),
        checkDue: createCheckDue(dependencies),
        deferBacklog: createDeferBacklog(database, log),
      };
      const live = createDelivery({ ...shared, transport });
      const test = createDelivery({
        ...shared,
        transport: simulateOutcomes(dependencies.testTransport),
        findIdentity: findTestIdentity,
        staging: { redirect: undefined, allow: [] },
      });
      worker = new Worker({
        claims: new ClaimStore(database, options.leaseMs),
        leases: new LeaseStore(database, options.leaseMs),
        attempt: traceAttempts(dependencies.tracing, (message, lease) =>
          isTestClass(message.retentionDays) ? test(message, lease) : live(message, lease),
        ),
        log,
        options,
        onRecorded(recorded) {
          if (!isTestClass(recorded.message.retentionDays)) onWritten(recorded);
          dependencies.onRecorded();
        },
        dropConnections: () => transport?.drop(),
      });
      worker.start();
    },
    /** Stops claiming, finishes messages being sent and releases the other leases. */
    async stop(): Promise<void> {
      await worker?.stop();
      await transport?.close();
    },
  };
}

/**
 * Slots beyond those on a connection, for messages being rendered, waiting for a connection or having their outcome
 * written.
 */
const minExtraSlots = 30;
const maxExtraSlots = 75;

/**
 * Concurrent messages for a number of connections: enough to keep every connection busy, but no more, because messages
 * that wait in memory make garbage collection more expensive.
 */
function slotsFor(connections: number): number {
  return connections + Math.max(minExtraSlots, Math.min(3 * connections, maxExtraSlots));
}

/** Concurrent messages when sending to the SMTP_URL relays, or to the inbox without SMTP_URL. */
export function relaySlots(smtpUrl: string | undefined): number {
  const servers = smtpUrl === undefined ? [inboxServer(0)] : readSmtpServers(smtpUrl);
  return slotsFor(Math.max(...servers.map(({ connections }) => connections)));
}

/** Tells the built-in inbox which account sends each message. */
class InboxTransport extends SmtpPool {
  override send(...[mail, ...rest]: Parameters<SmtpPool['send']>) {
    return super.send({ ...mail, envelopeId: mail.group }, ...rest);
  }
}

/** The transport to the built-in inbox. */
export function createInboxTransport(port: number, options: PoolOptions): Transport {
  return new InboxTransport(inboxServer(port), options);
}

/**
 * The transport to the SMTP_URL relays.
 * @throws OperatorError if SMTP_URL is invalid
 */
export function createRelayTransport(smtpUrl: string, options: PoolOptions): Transport {
  return new RelayTransport(readSmtpServers(smtpUrl), options);
}
