import type { Milter } from './start-opendkim.ts';

export interface PostfixConfig {
  /** Holds its configuration, queue and log. */
  readonly folder: string;
  /** Where it takes mail. */
  readonly port: number;
  readonly sinkPort: number;
  /** Connections to the sink, and from the feeder. */
  readonly connections: number;
  readonly milter: Milter | undefined;
}

/**
 * `main.cf` as somebody sets it up who wants a fast relay to one host: nothing to look up, as many connections to the
 * relay as the others have, from the first message on and kept open, no brake on what comes in, no limits for the feeder.
 * What makes mail durable (the queue's fsync) stays as it is by default.
 */
export function mainSettings(place: PostfixConfig, daemonFolder: string): string {
  const { folder, connections, sinkPort, milter } = place;
  const settings: Record<string, string | number> = {
    compatibility_level: '3.6',
    queue_directory: `${folder}/spool`,
    data_directory: `${folder}/data`,
    daemon_directory: daemonFolder,
    mail_owner: 'postfix',
    setgid_group: 'postdrop',
    maillog_file: `${folder}/mail.log`,
    maillog_file_prefixes: folder,
    myhostname: 'postfix.bench.test',
    mydestination: '',
    alias_maps: '',
    local_recipient_maps: '',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    mynetworks: '127.0.0.0/8',
    smtpd_relay_restrictions: 'permit_mynetworks, reject',
    smtpd_recipient_restrictions: '',
    smtpd_peername_lookup: 'no',
    smtpd_client_connection_count_limit: 0,
    smtpd_client_connection_rate_limit: 0,
    smtpd_tls_security_level: 'none',
    smtp_tls_security_level: 'none',
    smtp_dns_support_level: 'disabled',
    smtp_host_lookup: 'native',
    relayhost: `[127.0.0.1]:${sinkPort}`,
    default_destination_concurrency_limit: connections,
    initial_destination_concurrency: connections,
    smtp_connection_cache_destinations: '127.0.0.1',
    smtp_connection_reuse_count_limit: 0,
    in_flow_delay: '0s',
    qmgr_message_active_limit: 100_000,
    qmgr_message_recipient_limit: 100_000,
    ...(milter !== undefined && {
      smtpd_milters: milter.address,
      // A message that could not be signed must not count.
      milter_default_action: 'tempfail',
    }),
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}

/** `master.cf` as Debian has it, without the services that such a relay never asks, and without chroot. */
export function masterSettings({ port }: PostfixConfig): string {
  const services = [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    'pickup    unix n - n 60    1 pickup',
    'cleanup   unix n - n -     0 cleanup',
    'qmgr      unix n - n 300   1 qmgr',
    'tlsmgr    unix - - n 1000? 1 tlsmgr',
    'rewrite   unix - - n -     - trivial-rewrite',
    'bounce    unix - - n -     0 bounce',
    'defer     unix - - n -     0 bounce',
    'trace     unix - - n -     0 bounce',
    'verify    unix - - n -     1 verify',
    'flush     unix n - n 1000? 0 flush',
    'proxymap  unix - - n -     - proxymap',
    'smtp      unix - - n -     - smtp',
    'relay     unix - - n -     - smtp',
    'error     unix - - n -     - error',
    'retry     unix - - n -     - error',
    'anvil     unix - - n -     1 anvil',
    'scache    unix - - n -     1 scache',
    'postlog   unix-dgram n - n - 1 postlogd',
  ];
  return `${services.join('\n')}\n`;
}
