import { secretNames, settingDefinitions } from '../src/config/settings-table.ts';

/** The sections of docs/reference/settings.md. Every setting belongs to exactly one. */
const topics: Readonly<Record<string, readonly string[]>> = {
  'HTTP server': [
    'HOST',
    'PORT',
    'PUBLIC_URL',
    'ALLOW_INSECURE_PUBLIC_URL',
    'TLS_CERT, TLS_KEY',
    'TRUST_PROXY',
    'DRAIN_SECONDS',
    'CORS_ORIGINS',
    'MAX_CONNECTIONS',
    'MAX_CONNECTIONS_PER_PEER',
  ],
  'Data and keys': [
    'DATA_DIR',
    'DATABASE_URL',
    'SIGNALPOST_KEY',
    'SIGNALPOST_KEY_PREVIOUS',
    'DEMO',
    'AUDIT_DAYS',
    'SESSION_IDLE_HOURS',
    'PASSWORD_MEMORY',
    'KEEP_READER_ADDRESSES',
  ],
  Backups: [
    'BACKUP_TO',
    'BACKUP_RECIPIENT',
    'BACKUP_EVERY',
    'BACKUP_KEEP_DAYS',
    'BACKUP_S3_ENDPOINT',
    'BACKUP_S3_REGION',
    'BACKUP_S3_ACCESS_KEY',
    'BACKUP_S3_SECRET_KEY',
  ],
  'Single sign-on': [
    'OIDC_ISSUER',
    'OIDC_CLIENT_ID',
    'OIDC_CLIENT_SECRET',
    'OIDC_NAME',
    'OIDC_MEMBERS',
    'OIDC_TRUST_EMAIL',
    'OIDC_ONLY',
  ],
  Delivery: [
    'DELIVERY',
    'SMTP_URL',
    'SMTP_HOSTNAME',
    'DELIVERY_REDIRECT',
    'DELIVERY_ALLOW',
    'REFUSED_HEADERS',
    'SYSTEM_MAIL_FROM',
    'INBOX_TOKEN',
    'ATTACHMENT_LIMIT',
    'ATTACHMENT_REFUSED_TYPES',
  ],
  'Direct delivery': [
    'DNS_SERVERS',
    'DIRECT_SOURCES',
    'DIRECT_PORT',
    'DIRECT_LOOPBACK',
    'DELIVERY_NETWORKS',
  ],
  'Bounces and complaints': [
    'BOUNCE_PORT',
    'BOUNCE_HOST',
    'BOUNCE_TLS_KEY, BOUNCE_TLS_CERT',
    'INTAKE_SNS_TOPICS',
    'INTAKE_POSTMARK_PASSWORD',
    'INTAKE_MAILGUN_KEY',
    'INTAKE_SENDGRID_KEY',
  ],
  'SMTP submission': [
    'SUBMISSION_PORT',
    'SUBMISSION_TLS_PORT',
    'SUBMISSION_HOST',
    'SUBMISSION_TLS_CERT, SUBMISSION_TLS_KEY',
  ],
  Webhooks: ['WEBHOOK_NETWORKS'],
  'Metrics and logs': [
    'METRICS_TOKEN',
    'METRICS_PUBLIC',
    'LOG_LEVEL',
    'LOG_ACCESS',
    'LOG_AUDIT',
    'LOG_MESSAGES',
  ],
  OpenTelemetry: [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    'OTEL_EXPORTER_OTLP_CERTIFICATE',
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'OTEL_SERVICE_NAME',
    'OTEL_RESOURCE_ATTRIBUTES',
    'OTEL_TRACES_EXPORTER',
    'OTEL_TRACES_SAMPLER',
    'OTEL_TRACES_SAMPLER_ARG',
    'OTEL_SDK_DISABLED',
  ],
};

/** The most common settings, shown in the README. */
const common = [
  'PORT',
  'PUBLIC_URL',
  'DATA_DIR',
  'DATABASE_URL',
  'SMTP_URL',
  'SYSTEM_MAIL_FROM',
  'TRUST_PROXY',
];

/**
 * The tables of settings: all by topic, and the common ones for the README.
 * @throws if a setting has no topic, or a topic names a setting that doesn't exist
 */
export function describeSettings(): Readonly<Record<'settings' | 'common' | 'secrets', string>> {
  const placed = Object.values(topics).flat();
  const missing = settingDefinitions
    .filter(({ name }) => !placed.includes(name))
    .map(({ name }) => name);
  if (missing.length > 0)
    throw new Error(`scripts/describe-settings.ts has no topic for ${missing.join(', ')}`);
  const sections = Object.entries(topics).map(
    ([topic, names]) => `## ${topic}\n\n${tableOf(names)}`,
  );
  return {
    settings: sections.join('\n\n'),
    common: tableOf(common),
    secrets: secretNames.map((name) => `\`${name}\``).join(', '),
  };
}

function tableOf(names: readonly string[]): string {
  const rows = names.map((wanted) => {
    const setting = settingDefinitions.find(({ name }) => name === wanted);
    if (setting === undefined)
      throw new Error(`scripts/describe-settings.ts names ${wanted}, which is not a setting`);
    return `| \`${setting.name.replaceAll(', ', '`, `')}\` | ${setting.default} | ${setting.meaning} |`;
  });
  return ['| setting | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
