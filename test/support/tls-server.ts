import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Log } from '../../src/base/values/log.ts';
import { createLog } from '../../src/base/values/log.ts';
import { createHttp, type Http, type HttpOptions } from '../../src/host/http/create-http.ts';
import {
  type CertificateFiles,
  LiveCertificate,
} from '../../src/host/http/tls/live-certificate.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { TestAuthority, type TestCertificate } from './test-certificates.ts';

/** Writes a certificate and its key into a folder of their own. */
export function writeCertificate(
  { cert, key }: TestCertificate,
  folder = temporaryFolder(),
): CertificateFiles & { readonly folder: string } {
  const files = {
    folder,
    cert: { setting: 'TLS_CERT', path: join(folder, 'cert.pem') },
    key: { setting: 'TLS_KEY', path: join(folder, 'key.pem') },
  };
  writeFileSync(files.cert.path, cert);
  writeFileSync(files.key.path, key);
  return files;
}

export interface TlsTestServer {
  readonly http: Http;
  readonly port: number;
  readonly url: string;
  readonly authority: TestAuthority;
  readonly files: ReturnType<typeof writeCertificate>;
}

/**
 * Starts an HTTP server with TLS on a free port.
 * @param register adds its routes
 */
export async function startTlsServer(
  options: Pick<HttpOptions, 'routes'> & Partial<HttpOptions>,
  register: (http: Http) => void,
  log: Log = createLog('silent'),
): Promise<TlsTestServer> {
  const authority = new TestAuthority();
  const files = writeCertificate(authority.issue(['localhost']));
  const certificate = new LiveCertificate({ files, log, checkIntervalMs: 50 });
  const http = createHttp({ log, trustProxy: [], https: true, certificate, ...options });
  register(http);
  await http.listen({ host: '127.0.0.1', port: 0 });
  after(() => http.close());
  const { port } = http.server.address() as AddressInfo;
  return { http, port, url: `https://localhost:${port}`, authority, files };
}
