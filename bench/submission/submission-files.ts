import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TestAuthority } from '../../test/support/test-certificates.ts';
import { freePort } from '../../test-system/support/free-port.ts';

/** Where a service under measurement accepts messages over SMTP. */
export interface BenchSubmission {
  /** With STARTTLS. */
  readonly port: number;
  readonly tlsPort: number;
  /** Settings of the service. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A certificate for localhost, and its files. */
export async function makeBenchCertificate(folder: string) {
  const authority = new TestAuthority();
  const files = { cert: join(folder, 'submission.crt'), key: join(folder, 'submission.key') };
  const { cert, key } = authority.issue(['localhost']);
  await writeFile(files.cert, cert);
  await writeFile(files.key, key, { mode: 0o600 });
  return { ca: authority.ca, files };
}

/** Free ports for SMTP submission, which stay the same when the service restarts. */
export async function chooseBenchSubmission({
  cert,
  key,
}: {
  readonly cert: string;
  readonly key: string;
}): Promise<BenchSubmission> {
  const [port, tlsPort] = [await freePort(), await freePort()];
  return {
    port,
    tlsPort,
    environment: {
      SUBMISSION_HOST: '127.0.0.1',
      SUBMISSION_PORT: String(port),
      SUBMISSION_TLS_PORT: String(tlsPort),
      SUBMISSION_TLS_CERT: cert,
      SUBMISSION_TLS_KEY: key,
    },
  };
}
