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
import {
  minOpenFiles,
  readOpenFileLimit,
  wantedOpenFiles,
} from '../../../host/http/limits/limit-connections.ts';
import { formatBytes } from '../../../host/http/limits/route-limits.ts';
import { type CertificateFiles, readCertificate } from '../../../host/http/tls/live-certificate.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';
import { listPasswordOnly, readDomainStates, readServerVersion } from './production-store.ts';

type Check = (context: DoctorContext) => Promise<Diagnosis>;

const page = (name: string): string => `See docs/${name}.`;

const notChecked: Diagnosis = { ok: true, finding: 'not checked without the database' };

/** What real use needs in addition, for `doctor --production`: each problem with its fix and the page about it. */
export const productionChecks: readonly { readonly name: string; readonly check: Check }[] = [
  { name: 'address', check: checkAddress },
  { name: 'proxy', check: checkProxy },
  { name: 'tls', check: checkCertificate },
  { name: 'delivery', check: checkDelivery },
  { name: 'domains', check: checkDomains },
  { name: 'bounces', check: checkBounces },
  { name: 'smtp', check: checkSubmission },
  { name: 'factors', check: checkFactors },
  { name: 'metrics', check: checkMetrics },
  { name: 'demo', check: checkDemo },
  { name: 'backups', check: checkBackups },
  { name: 'time', check: checkTime },
  { name: 'memory', check: checkMemory },
  { name: 'limits', check: checkLimits },
  { name: 'versions', check: checkVersions },
];

async function checkAddress({ config: { publicUrl } }: DoctorContext): Promise<Diagnosis> {
  if (publicUrl?.startsWith('https:') === true) return { ok: true, finding: publicUrl };
  return {
    ok: false,
    finding:
      publicUrl === undefined
        ? 'PUBLIC_URL isn’t set: links in mail depend on the request that caused it'
        : `passwords and tokens travel unencrypted to ${publicUrl}`,
    advice: `Set PUBLIC_URL to the https address that people use. ${page('operate/deploy.md#3-write-the-settings')}`,
  };
}

async function checkProxy({ config, unused }: DoctorContext): Promise<Diagnosis> {
  const { host, tls, trustProxy } = config;
  const unread = unused?.unreadForwarded ?? 0;
  if (unread > 0 && tls === undefined)
    return {
      ok: false,
      finding: `${unread} requests came through a proxy that isn’t trusted, so all its clients count as one address`,
      advice: `List the proxy in TRUST_PROXY; the log names its address. ${page('operate/deploy.md#5-put-a-reverse-proxy-in-front')}`,
    };
  if (trustProxy.length > 0) return { ok: true, finding: `trusts ${trustProxy.join(', ')}` };
  if (tls !== undefined) return { ok: true, finding: 'none, because the service speaks TLS' };
  return {
    ok: false,
    finding: `no proxy is trusted, so all clients behind a proxy for ${host} count as one address`,
    advice: `Put a proxy with TLS in front, and list it in TRUST_PROXY, or set TLS_CERT and TLS_KEY. ${page('operate/deploy.md#5-put-a-reverse-proxy-in-front')}`,
  };
}

async function checkCertificate({ config: { tls, publicUrl } }: DoctorContext): Promise<Diagnosis> {
  if (tls === undefined) return { ok: true, finding: 'is the proxy’s, without TLS_CERT' };
  const { leaf } = readCertificate(tls);
  const { days, problem } = checkCertificateExpiry(leaf);
  const advice = `Renew the certificate in ${tls.cert.path}; the service loads it automatically. ${page('operate/deploy.md#use-the-built-in-tls')}`;
  if (problem !== undefined) return { ok: false, finding: problem, advice };
  const host = publicUrl && new URL(publicUrl).hostname.replace(/^\[|\]$/g, '');
  const isFor = (name: string) => (isIP(name) ? leaf.checkIP(name) : leaf.checkHost(name));
  if (host !== undefined && isFor(host) === undefined)
    return {
      ok: false,
      finding: `the certificate isn’t for ${host}, the host of PUBLIC_URL`,
      advice: `Set TLS_CERT to a certificate for ${host}. ${page('operate/deploy.md#use-the-built-in-tls')}`,
    };
  return { ok: true, finding: `the certificate expires in ${days} days` };
}

async function checkDelivery({ config }: DoctorContext): Promise<Diagnosis> {
  const { delivery, deliveryRedirect } = config;
  if (delivery === 'inbox')
    return {
      ok: false,
      finding: 'mail stays on this machine, in the inbox',
      advice: `Set SMTP_URL, or DELIVERY=direct. ${page('operate/configure.md#choose-a-delivery-method')}`,
    };
  if (deliveryRedirect !== undefined)
    return {
      ok: false,
      finding: `DELIVERY_REDIRECT sends mail to ${deliveryRedirect} instead of its recipients`,
      advice: `Remove DELIVERY_REDIRECT. ${page('test-email.md')}`,
    };
  return { ok: true, finding: delivery === 'relay' ? 'through a relay' : 'directly' };
}

async function checkDomains({ database }: DoctorContext): Promise<Diagnosis> {
  const row = await (database && readDomainStates(database).catch(() => undefined));
  if (row === undefined) return notChecked;
  const advice = `Add each domain that you send from, and publish its records. ${page('sending-domains.md#verify-a-domain')}`;
  if (row.verified === 0 && row.other.length === 0)
    return {
      ok: false,
      finding: 'none is set up, so mail isn’t signed for your domain',
      advice,
    };
  if (row.other.length === 0) return { ok: true, finding: `all ${row.verified} are verified` };
  const named = row.other.slice(0, 5).join(', ');
  const more = row.other.length > 5 ? ` and ${row.other.length - 5} more` : '';
  return { ok: false, finding: `not verified: ${named}${more}`, advice };
}

async function checkBounces({ config }: DoctorContext): Promise<Diagnosis> {
  const { delivery, bounceServer, intake } = config;
  const reporting = Object.values(intake).some((value) => value !== undefined && value.length > 0);
  if (delivery === 'inbox') return { ok: true, finding: 'none, because nothing is delivered' };
  if (bounceServer !== undefined)
    return { ok: true, finding: `arrive on port ${bounceServer.port}` };
  if (delivery === 'relay' && reporting)
    return { ok: true, finding: 'are reported by the relay’s webhook' };
  return {
    ok: false,
    finding:
      'bounces and complaints that arrive by mail are lost, so invalid addresses aren’t suppressed',
    advice: `Set BOUNCE_PORT, or let your relay report to /intake. ${page('sending-domains.md#deliver-directly')}`,
  };
}

async function checkFactors({ database }: DoctorContext): Promise<Diagnosis> {
  const emails = await (database && listPasswordOnly(database, 6).catch(() => undefined));
  if (emails === undefined) return notChecked;
  if (emails.length === 0)
    return { ok: true, finding: 'all operators and owners have a second factor' };
  return {
    ok: false,
    finding: `operators and owners with a password only: ${emails.slice(0, 5).join(', ')}${emails.length > 5 ? ' and more' : ''}`,
    advice: `Ask them to add a passkey or an authenticator app at /me. An account can require it. ${page('how-it-works/authentication.md')}`,
  };
}

async function checkMetrics({ config: { metrics } }: DoctorContext): Promise<Diagnosis> {
  if (metrics.public || metrics.token !== undefined)
    return {
      ok: true,
      finding: metrics.public ? 'public at /metrics' : 'at /metrics, with METRICS_TOKEN',
    };
  return {
    ok: false,
    finding: 'nothing can monitor the service',
    advice: `Set METRICS_TOKEN, and let Prometheus read /metrics. ${page('operate/monitor.md#metrics')}`,
  };
}

async function checkDemo({ config: { demo } }: DoctorContext): Promise<Diagnosis> {
  if (!demo) return { ok: true, finding: 'off' };
  return {
    ok: false,
    finding: 'each start sets up a demo account whose passwords are in demo.env',
    advice: `Set DEMO=0. ${page('operate/configure.md#change-settings')}`,
  };
}

async function checkBackups({ config }: DoctorContext): Promise<Diagnosis> {
  const { databaseUrl, backup } = config;
  if (databaseUrl !== undefined) return { ok: true, finding: 'are made by your PostgreSQL' };
  if (backup.to !== undefined) return { ok: true, finding: 'continuous' };
  return {
    ok: false,
    finding: 'are not continuous, so the loss of the disk loses mail',
    advice: `Set BACKUP_TO and BACKUP_RECIPIENT. ${page('operate/back-up.md')}`,
  };
}

/** Files that exist while a program keeps the clock right. */
const timeKeepers = [
  '/run/systemd/timesync/synchronized',
  '/run/chrony/chronyd.pid',
  '/run/ntpd.pid',
  '/run/ntpsec/ntpd.pid',
  '/var/run/openntpd.pid',
];

async function checkTime(): Promise<Diagnosis> {
  if (timeKeepers.some((path) => existsSync(path)))
    return { ok: true, finding: 'the clock is synchronized' };
  // Containers use their host's clock.
  if (!existsSync('/run/systemd/system')) return { ok: true, finding: 'unknown on this system' };
  return {
    ok: false,
    finding: 'the clock doesn’t seem to be synchronized',
    advice:
      'Install chrony, or run: timedatectl set-ntp true. Codes of authenticator apps, DKIM and leases need the right time.',
  };
}

async function checkMemory(): Promise<Diagnosis> {
  const finding = `${describeMemoryLimit()} for the service`;
  const share = memoryShare();
  if (share === 1) return { ok: true, finding };
  return {
    ok: true,
    finding: `${finding}, so bodies and attachments get ${Math.round(share * 100)}% of the usual space`,
    advice: `To take more large messages at once, allow ${formatBytes(fullMemory)}. ${page('operate/faults.md#memory')}`,
  };
}

async function checkLimits(): Promise<Diagnosis> {
  const files = readOpenFileLimit();
  if (files === undefined || files >= wantedOpenFiles)
    return { ok: true, finding: `${files ?? 'unlimited'} open files` };
  return {
    ok: files >= minOpenFiles,
    finding: `${files} open files in this shell, which limits connections if the service has the same`,
    advice: `Set LimitNOFILE=${wantedOpenFiles} in the unit, or ulimit -n ${wantedOpenFiles}. ${page('operate/deploy.md#4-run-it')}`,
  };
}

/** PostgreSQL's five-year support: https://www.postgresql.org/support/versioning/ */
const oldestSupported = 15;
const oldestNode = 24;

async function checkVersions({ database }: DoctorContext): Promise<Diagnosis> {
  const server = await (database && readServerVersion(database).catch(() => undefined));
  const node = process.versions.node;
  const finding = `Node ${node}${server === undefined ? '' : `, PostgreSQL ${server}`}`;
  const isOld =
    Number.parseInt(node, 10) < oldestNode || Number.parseInt(server ?? '99', 10) < oldestSupported;
  return isOld
    ? {
        ok: false,
        finding,
        advice: `Use Node ${oldestNode} and PostgreSQL ${oldestSupported} or later. ${page('operate/upgrade.md')}`,
      }
    : { ok: true, finding };
}

const submissionPage = 'See docs/smtp.md#turn-it-on.';

/** Checks the ports and the certificate of SMTP submission, if it is on. */
async function checkSubmission({ config }: DoctorContext): Promise<Diagnosis> {
  const { smtpSubmission, hostname } = config;
  if (smtpSubmission === undefined) return { ok: true, finding: 'over SMTP is off' };
  const { tls, host, port, tlsPort } = smtpSubmission;
  const problem = certificateProblem(tls, hostname);
  if (problem !== undefined)
    return {
      ok: false,
      finding: problem,
      advice: `Put a certificate for the host that programs connect to into ${tls.cert.path}; the service loads it automatically. ${submissionPage}`,
    };
  const ports = [port, tlsPort].filter((number) => number !== undefined);
  for (const number of ports) {
    const finding = await portProblem(host, number);
    if (finding !== undefined)
      return {
        ok: false,
        finding,
        advice: `Free the port, or choose another one. ${submissionPage}`,
      };
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
