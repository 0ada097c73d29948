import { hostname as osHostname } from 'node:os';
import type { Registry } from 'prom-client';
import type { AccessModule } from '../../accounts/access/access-module.ts';
import { batchReads } from '../../base/database/batch-reads.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { Tracing } from '../../base/telemetry/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Log } from '../../base/values/log.ts';
import {
  type CertificateFiles,
  LiveCertificate,
  registerCertificateMetrics,
} from '../../host/http/tls/live-certificate.ts';
import { readSuppressed } from '../delivery/due-message-store.ts';
import type { AttachmentSettings } from '../submission/check-attachments.ts';
import { CustomHeaderRules } from '../submission/custom-headers.ts';
import {
  SmtpSubmissionMetrics,
  type SubmissionAddresses,
  type SubmissionServer,
} from './start-submission-server.ts';
import { chooseSubmissionHost, type SubmissionEndpoint } from './submission-endpoint.ts';
import type { SessionDependencies } from './submission-session.ts';

/** Settings of the submission service. */
export interface SmtpSubmissionSettings extends SubmissionAddresses {
  readonly tls: CertificateFiles;
}

export interface SmtpSubmissionDependencies {
  /** Undefined: off. */
  readonly settings: SmtpSubmissionSettings | undefined;
  /** False if only other nodes open the ports. */
  readonly isOpen: boolean;
  readonly hostname: string | undefined;
  readonly publicUrl: string | undefined;
  readonly database: Pick<Database, 'kysely'>;
  readonly access: Pick<AccessModule, 'authenticator' | 'facts'>;
  readonly attachmentSettings: AttachmentSettings;
  readonly send: SessionDependencies['send'];
  readonly sendRaw: SessionDependencies['sendRaw'];
  /** Headers that messages must not have, besides the reserved ones. */
  readonly refusedHeaders: readonly string[];
  readonly memoryShare: number;
  readonly metrics: Registry;
  readonly tracing: Tracing | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Message submission over SMTP, for programs that can't use HTTP. */
export interface SmtpSubmission {
  /** The open ports; undefined before `start` and for those that aren't configured. */
  ports(): Pick<SubmissionServer, 'port' | 'tlsPort'>;
  /** What programs connect to, at this node or another; undefined before `start`, or if it is off. */
  endpoint(): SubmissionEndpoint | undefined;
  /** Opens the ports, if configured. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** @throws OperatorError if the certificate can’t be used */
export function createSmtpSubmission(dependencies: SmtpSubmissionDependencies): SmtpSubmission {
  const { settings } = dependencies;
  return settings === undefined ? submissionOff : createServing(settings, dependencies);
}

const submissionOff: SmtpSubmission = {
  ports: () => ({ port: undefined, tlsPort: undefined }),
  endpoint: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
};

function createServing(
  settings: SmtpSubmissionSettings,
  dependencies: SmtpSubmissionDependencies,
): SmtpSubmission {
  const { database, log, hostname, publicUrl } = dependencies;
  let server: SubmissionServer | undefined;
  let started = false;
  const certificate = new LiveCertificate({ files: settings.tls, log });
  registerCertificateMetrics(dependencies.metrics, certificate, 'submission');
  const metrics = new SmtpSubmissionMetrics(dependencies.metrics, () => server?.sessions() ?? 0);
  const publicHost = publicUrl && new URL(publicUrl).hostname;
  return {
    ports: () => ({ port: server?.port, tlsPort: server?.tlsPort }),
    endpoint() {
      if (!started) return undefined;
      const { port, tlsPort } = server ?? settings;
      const [best = osHostname(), ...others] = [hostname, publicHost].filter(isGiven);
      const host = chooseSubmissionHost(certificate.current.leaf, [best, ...others]);
      return { host, port, tlsPort };
    },
    async start() {
      certificate.start();
      started = true;
      if (!dependencies.isOpen) return;
      // Imported on demand, because most installations don't use it.
      const { startSubmissionServer } = await import('./start-submission-server.ts');
      server = await startSubmissionServer({
        ...dependencies,
        addresses: settings,
        certificate,
        admission: dependencies.access,
        headerRules: new CustomHeaderRules(dependencies.refusedHeaders),
        findSuppression: createSuppressionLookup(database),
        metrics,
      });
    },
    async stop() {
      certificate.stop();
      await server?.stop();
    },
  };
}

function isGiven(name: string | undefined): name is string {
  return name !== undefined;
}

/** Lookups of sessions that come together share a statement. */
function createSuppressionLookup({
  kysely,
}: Pick<Database, 'kysely'>): SessionDependencies['findSuppression'] {
  const find = batchReads((questions: Parameters<typeof readSuppressed>[1]) =>
    readSuppressed(kysely, questions),
  );
  return async (accountId, address) => {
    const [any, blocking] = await Promise.all(
      [false, true].map((transactional) =>
        find({ accountId, transactional, addresses: [address] }),
      ),
    );
    return {
      unsubscribed: (any?.length ?? 0) > 0,
      blocked: (blocking?.length ?? 0) > 0,
    };
  };
}
