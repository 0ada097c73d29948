import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { codeOf } from '../../foundation/database/sqlstate.ts';
import { type CertificateFiles, readCertificate } from '../../http/tls/live-certificate.ts';
import { checkCertificateExpiry } from './certificate-age.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

const page = 'See docs/smtp.md#turn-it-on.';

/** Checks the ports and the certificate of SMTP submission, if it is on. */
export async function checkSubmission({ config }: DoctorContext): Promise<Diagnosis> {
  const { smtpSubmission, hostname } = config;
  if (smtpSubmission === undefined) return { ok: true, finding: 'over SMTP is off' };
  const { tls, host, port, tlsPort } = smtpSubmission;
  const problem = certificateProblem(tls, hostname);
  if (problem !== undefined)
    return {
      ok: false,
      finding: problem,
      advice: `Put a certificate for the host that programs connect to into ${tls.cert.path}; the service loads it automatically. ${page}`,
    };
  const ports = [port, tlsPort].filter((number) => number !== undefined);
  for (const number of ports) {
    const finding = await portProblem(host, number);
    if (finding !== undefined)
      return { ok: false, finding, advice: `Free the port, or choose another one. ${page}` };
  }
  return { ok: true, finding: `over SMTP on port ${ports.join(' and ')}` };
}

function certificateProblem(files: CertificateFiles, host: string | undefined): string | undefined {
  const { leaf } = readCertificate(files);
  const { days, problem } = checkCertificateExpiry(leaf);
  if (problem !== undefined) return days < 0 ? `${problem}; programs will refuse it` : problem;
  return host !== undefined && leaf.checkHost(host) === undefined
    ? `the certificate isn’t for ${host}, the name in SMTP_HOSTNAME`
    : undefined;
}

/** A port that is in use is fine if this service uses it. */
async function portProblem(host: string, port: number): Promise<string | undefined> {
  if (port === 0) return undefined;
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
    return undefined;
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE')
      return `port ${port} on ${host} can’t be opened (${codeOf(error)})`;
    return (await speaksSmtpOrTls(host, port))
      ? undefined
      : `another program uses port ${port} on ${host}`;
  } finally {
    server.close();
  }
}

const patienceMs = 1_000;

/** True if a server there greets as this service does, or waits for TLS. */
async function speaksSmtpOrTls(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host === '0.0.0.0' || host === '::' ? undefined : host);
  try {
    const signal = AbortSignal.timeout(patienceMs);
    const greeting: unknown[] = await once(socket, 'data', { signal }).catch((error: unknown) => {
      if (codeOf(error) === 'ABORT_ERR') return [];
      throw error;
    });
    return greeting.length === 0 || String(greeting[0]).includes('Signalpost submission');
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
