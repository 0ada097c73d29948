import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer, isIP } from 'node:net';
import { codeOf } from '../../../base/database/sqlstate.ts';
import {
  describeMemoryLimit,
  fullMemory,
  memoryShare,
} from '../../../base/fairness/memory-share.ts';
import { fine, problem } from '../../../base/values/diagnosis.ts';
import {
  minOpenFiles,
  readOpenFileLimit,
  wantedOpenFiles,
} from '../../../host/http/limits/limit-connections.ts';
import { formatBytes } from '../../../host/http/limits/route-limits.ts';
import { type CertificateFiles, readCertificate } from '../../../host/http/tls/live-certificate.ts';
import { isOlderVersion, readOldestNode } from '../read-version.ts';
import { ask, type Checks, notChecked } from './doctor-context.ts';
import { listPasswordOnly, readDomainStates, readServerVersion } from './production-store.ts';

const page = (name: string): string => `See docs/${name}.`;

/** Files that exist while a program keeps the clock right. */
const timeKeepers = [
  '/run/systemd/timesync/synchronized',
  '/run/chrony/chronyd.pid',
  '/run/ntpd.pid',
  '/run/ntpsec/ntpd.pid',
  '/var/run/openntpd.pid',
];

/** PostgreSQL's five-year support: https://www.postgresql.org/support/versioning/ */
const oldestSupported = 15;

/** What real use needs in addition, for `doctor --production`: each problem with its fix and the page about it. */
export const productionChecks: Checks = {
  address({ config: { publicUrl } }) {
    if (publicUrl?.startsWith('https:') === true) return fine(publicUrl);
    return problem(
      publicUrl === undefined
        ? 'PUBLIC_URL isn’t set: links in mail depend on the request that caused it'
        : `passwords and tokens travel unencrypted to ${publicUrl}`,
      `Set PUBLIC_URL to the https address that people use. ${page('operate/deploy.md#3-write-the-settings')}`,
    );
  },
  proxy({ config: { host, tls, trustProxy }, unused }) {
    const unread = unused?.unreadForwarded ?? 0;
    const about = page('operate/deploy.md#5-put-a-reverse-proxy-in-front');
    if (unread > 0 && tls === undefined)
      return problem(
        `${unread} requests came through a proxy that isn’t trusted, so all its clients count as one address`,
        `List the proxy in TRUST_PROXY; the log names its address. ${about}`,
      );
    if (trustProxy.length > 0) return fine(`trusts ${trustProxy.join(', ')}`);
    if (tls !== undefined) return fine('none, because the service speaks TLS');
    return problem(
      `no proxy is trusted, so all clients behind a proxy for ${host} count as one address`,
      `Put a proxy with TLS in front, and list it in TRUST_PROXY, or set TLS_CERT and TLS_KEY. ${about}`,
    );
  },
  tls({ config: { tls, publicUrl } }) {
    if (tls === undefined) return fine('is the proxy’s, without TLS_CERT');
    const { leaf } = readCertificate(tls);
    const age = checkCertificateExpiry(leaf);
    const about = page('operate/deploy.md#use-the-built-in-tls');
    if (age.problem !== undefined)
      return problem(
        age.problem,
        `Renew the certificate in ${tls.cert.path}; the service loads it automatically. ${about}`,
      );
    const host = publicUrl && new URL(publicUrl).hostname.replace(/^\[|\]$/g, '');
    const isFor = (name: string) => (isIP(name) ? leaf.checkIP(name) : leaf.checkHost(name));
    if (host !== undefined && isFor(host) === undefined)
      return problem(
        `the certificate isn’t for ${host}, the host of PUBLIC_URL`,
        `Set TLS_CERT to a certificate for ${host}. ${about}`,
      );
    return fine(`the certificate expires in ${age.days} days`);
  },
  delivery({ config: { delivery, deliveryRedirect } }) {
    if (delivery === 'inbox')
      return problem(
        'mail stays on this machine, in the inbox',
        `Set SMTP_URL, or DELIVERY=direct. ${page('operate/configure.md#choose-a-delivery-method')}`,
      );
    if (deliveryRedirect !== undefined)
      return problem(
        `DELIVERY_REDIRECT sends mail to ${deliveryRedirect} instead of its recipients`,
        `Remove DELIVERY_REDIRECT. ${page('test-email.md')}`,
      );
    return fine(delivery === 'relay' ? 'through a relay' : 'directly');
  },
  async domains(context) {
    const row = await ask(context, readDomainStates);
    if (row === undefined) return notChecked;
    const advice = `Add each domain that you send from, and publish its records. ${page('sending-domains.md#verify-a-domain')}`;
    if (row.verified === 0 && row.other.length === 0)
      return problem('none is set up, so mail isn’t signed for your domain', advice);
    if (row.other.length === 0) return fine(`all ${row.verified} are verified`);
    const named = row.other.slice(0, 5).join(', ');
    const more = row.other.length > 5 ? ` and ${row.other.length - 5} more` : '';
    return problem(`not verified: ${named}${more}`, advice);
  },
  bounces({ config: { delivery, bounceServer, intake } }) {
    const reporting = Object.values(intake).some(
      (value) => value !== undefined && value.length > 0,
    );
    if (delivery === 'inbox') return fine('none, because nothing is delivered');
    if (bounceServer !== undefined) return fine(`arrive on port ${bounceServer.port}`);
    if (delivery === 'relay' && reporting) return fine('are reported by the relay’s webhook');
    return problem(
      'bounces and complaints that arrive by mail are lost, so invalid addresses aren’t suppressed',
      `Set BOUNCE_PORT, or let your relay report to /intake. ${page('sending-domains.md#deliver-directly')}`,
    );
  },
  /** The ports and the certificate of SMTP submission, if it is on. */
  async smtp({ config: { smtpSubmission, hostname } }) {
    if (smtpSubmission === undefined) return fine('over SMTP is off');
    const { tls, host, port, tlsPort } = smtpSubmission;
    const about = page('smtp.md#turn-it-on');
    const finding = certificateProblem(tls, hostname);
    if (finding !== undefined)
      return problem(
        finding,
        `Put a certificate for the host that programs connect to into ${tls.cert.path}; the service loads it automatically. ${about}`,
      );
    const ports = [port, tlsPort].filter((number) => number !== undefined);
    for (const number of ports) {
      const found = await portProblem(host, number);
      if (found !== undefined)
        return problem(found, `Free the port, or choose another one. ${about}`);
    }
    return fine(`over SMTP on port ${ports.join(' and ')}`);
  },
  async factors(context) {
    const emails = await ask(context, (database) => listPasswordOnly(database, 6));
    if (emails === undefined) return notChecked;
    if (emails.length === 0) return fine('all operators and owners have a second factor');
    return problem(
      `operators and owners with a password only: ${emails.slice(0, 5).join(', ')}${emails.length > 5 ? ' and more' : ''}`,
      `Ask them to add a passkey or an authenticator app at /me. An account can require it. ${page('how-it-works/authentication.md')}`,
    );
  },
  metrics({ config: { metrics } }) {
    if (metrics.public) return fine('public at /metrics');
    if (metrics.token !== undefined) return fine('at /metrics, with METRICS_TOKEN');
    return problem(
      'nothing can monitor the service',
      `Set METRICS_TOKEN, and let Prometheus read /metrics. ${page('operate/monitor.md#metrics')}`,
    );
  },
  demo({ config: { demo } }) {
    if (!demo) return fine('off');
    return problem(
      'each start sets up a demo account whose passwords are in demo.env',
      `Set DEMO=0. ${page('operate/configure.md#change-settings')}`,
    );
  },
  backups({ config: { databaseUrl, backup } }) {
    if (databaseUrl !== undefined) return fine('are made by your PostgreSQL');
    if (backup.to !== undefined) return fine('continuous');
    return problem(
      'are not continuous, so the loss of the disk loses mail',
      `Set BACKUP_TO and BACKUP_RECIPIENT. ${page('operate/back-up.md')}`,
    );
  },
  time() {
    if (timeKeepers.some((path) => existsSync(path))) return fine('the clock is synchronized');
    // Containers use their host's clock.
    if (!existsSync('/run/systemd/system')) return fine('unknown on this system');
    return problem(
      'the clock doesn’t seem to be synchronized',
      'Install chrony, or run: timedatectl set-ntp true. Codes of authenticator apps, DKIM and leases need the right time.',
    );
  },
  memory() {
    const finding = `${describeMemoryLimit()} for the service`;
    const share = memoryShare();
    if (share === 1) return fine(finding);
    return fine(
      `${finding}, so bodies and attachments get ${Math.round(share * 100)}% of the usual space`,
      `To take more large messages at once, allow ${formatBytes(fullMemory)}. ${page('operate/faults.md#memory')}`,
    );
  },
  limits() {
    const files = readOpenFileLimit();
    if (files === undefined || files >= wantedOpenFiles)
      return fine(`${files ?? 'unlimited'} open files`);
    return {
      ok: files >= minOpenFiles,
      finding: `${files} open files in this shell, which limits connections if the service has the same`,
      advice: `Set LimitNOFILE=${wantedOpenFiles} in the unit, or ulimit -n ${wantedOpenFiles}. ${page('operate/deploy.md#4-run-it')}`,
    };
  },
  async versions(context) {
    const server = await ask(context, readServerVersion);
    const { node } = process.versions;
    const oldestNode = await readOldestNode();
    const finding = `Node ${node}${server === undefined ? '' : `, PostgreSQL ${server}`}`;
    const isOld =
      isOlderVersion(node, oldestNode) || Number.parseInt(server ?? '99', 10) < oldestSupported;
    return isOld
      ? problem(
          finding,
          `Use Node ${oldestNode} and PostgreSQL ${oldestSupported} or later. ${page('operate/upgrade.md')}`,
        )
      : fine(finding);
  },
};

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

/** Certificates are usually renewed a month before they expire, so renewal is a week overdue by then. */
const minCertificateDays = 21;

interface CertificateAge {
  /** Until it expires; negative if it has. */
  readonly days: number;
  /** Why it must be renewed; undefined if it is fine. */
  readonly problem: string | undefined;
}

/** Checks whether the renewal of a certificate is overdue. */
function checkCertificateExpiry({
  validToDate,
}: Pick<X509Certificate, 'validToDate'>): CertificateAge {
  const days = Math.floor((validToDate.getTime() - Date.now()) / 86_400_000);
  if (days < 0) return { days, problem: 'the certificate has expired' };
  return {
    days,
    problem: days < minCertificateDays ? `the certificate expires in ${days} days` : undefined,
  };
}
