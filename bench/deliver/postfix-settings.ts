export interface Milter {
  /** As Postfix names it. */
  readonly address: string;
  stop(): Promise<void>;
}

export interface PostfixConfig {
  readonly folder: string;
  readonly daemonFolder: string;
  readonly sinkPort: number;
  readonly connections: number;
  readonly milter: Milter | undefined;
}

/** `main.cf` of a relay that is set up for speed. The queue's fsync keeps its default. */
export function mainSettings({
  folder,
  daemonFolder,
  connections,
  sinkPort,
  milter,
}: PostfixConfig): string {
  return `
compatibility_level = 3.6
queue_directory = ${folder}/spool
data_directory = ${folder}/data
daemon_directory = ${daemonFolder}
mail_owner = postfix
setgid_group = postdrop
maillog_file = ${folder}/mail.log
maillog_file_prefixes = ${folder}
myhostname = postfix.bench.test
mydestination =
alias_maps =
local_recipient_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_recipient_restrictions =
smtpd_peername_lookup = no
smtpd_client_connection_count_limit = 0
smtpd_client_connection_rate_limit = 0
smtpd_tls_security_level = none
smtp_tls_security_level = none
smtp_dns_support_level = disabled
smtp_host_lookup = native
relayhost = [127.0.0.1]:${sinkPort}
default_destination_concurrency_limit = ${connections}
initial_destination_concurrency = ${connections}
smtp_connection_cache_destinations = 127.0.0.1
smtp_connection_reuse_count_limit = 0
in_flow_delay = 0s
qmgr_message_active_limit = 100000
qmgr_message_recipient_limit = 100000
${milter === undefined ? '' : `smtpd_milters = ${milter.address}\n# No message counts unsigned.\nmilter_default_action = tempfail\n`}`;
}

/** `master.cf` of Debian without chroot and unused services. */
export function masterSettings(port: number): string {
  return `
127.0.0.1:${port} inet n - n - - smtpd
pickup    unix n - n 60    1 pickup
cleanup   unix n - n -     0 cleanup
qmgr      unix n - n 300   1 qmgr
tlsmgr    unix - - n 1000? 1 tlsmgr
rewrite   unix - - n -     - trivial-rewrite
bounce    unix - - n -     0 bounce
defer     unix - - n -     0 bounce
trace     unix - - n -     0 bounce
verify    unix - - n -     1 verify
flush     unix n - n 1000? 0 flush
proxymap  unix - - n -     - proxymap
smtp      unix - - n -     - smtp
relay     unix - - n -     - smtp
error     unix - - n -     - error
retry     unix - - n -     - error
anvil     unix - - n -     1 anvil
scache    unix - - n -     1 scache
postlog   unix-dgram n - n - 1 postlogd
`;
}
