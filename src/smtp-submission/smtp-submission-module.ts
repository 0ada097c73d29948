import type { AccessModule } from '../access/access-module.ts';
import { readSuppressed } from '../delivery/due-message-store.ts';
import { batchReads } from '../foundation/batch-reads.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import type { CertificateFiles } from '../http/tls/certificate.ts';
import { LiveCertificate } from '../http/tls/live-certificate.ts';
import type { AttachmentSettings } from '../submission/check-attachments.ts';
import { CustomHeaderRules } from '../submission/custom-headers.ts';
import type { SubmissionAddresses, SubmissionServer } from './start-submission-server.ts';
import type { SessionDependencies } from './submission-session.ts';

/** Settings of the submission service. */
export interface SmtpSubmissionSettings extends SubmissionAddresses {
  readonly tls: CertificateFiles;
}

export interface SmtpSubmissionDependencies {
  readonly settings: SmtpSubmissionSettings | undefined;
  readonly hostname: string | undefined;
  readonly database: Pick<Database, 'kysely'>;
  readonly access: Pick<AccessModule, 'authenticator' | 'facts'>;
  readonly attachmentSettings: AttachmentSettings;
  readonly send: SessionDependencies['send'];
  readonly sendRaw: SessionDependencies['sendRaw'];
  /** Headers that messages must not have, besides the reserved ones. */
  readonly refusedHeaders: readonly string[];
  readonly memoryShare: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Message submission over SMTP, for programs that can't use HTTP. */
export interface SmtpSubmission {
  /** The open ports; undefined before `start` and for those that aren't configured. */
  ports(): Pick<SubmissionServer, 'port' | 'tlsPort'>;
  /** Opens the ports, if configured. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createSmtpSubmission(dependencies: SmtpSubmissionDependencies): SmtpSubmission {
  const { settings, database, log } = dependencies;
  let server: SubmissionServer | undefined;
  let certificate: LiveCertificate | undefined;
  return {
    ports: () => ({ port: server?.port, tlsPort: server?.tlsPort }),
    async start() {
      if (settings === undefined) return;
      certificate = new LiveCertificate({ files: settings.tls, log });
      certificate.start();
      // Imported only where it is used, so that it costs nothing elsewhere.
      const { startSubmissionServer } = await import('./start-submission-server.ts');
      server = await startSubmissionServer({
        ...dependencies,
        addresses: settings,
        certificate,
        admission: dependencies.access,
        headerRules: new CustomHeaderRules(dependencies.refusedHeaders),
        findSuppression: createSuppressionLookup(database),
      });
    },
    async stop() {
      certificate?.stop();
      await server?.stop();
    },
  };
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
