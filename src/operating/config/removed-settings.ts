import { OperatorError } from '../../base/values/errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const builtInMail =
  'These emails have built-in templates and come from SYSTEM_MAIL_FROM, and operators can replace their text.';

const collectLogs =
  'The log goes to standard error only; let systemd, Docker or Vector take it from there: docs/operate/collect-logs.md.';

/** Settings of earlier releases, with what to do instead. */
export const removedSettings: Readonly<Record<string, string>> = {
  PASSWORD_TEMPLATE: builtInMail,
  SENDER_TEMPLATE: builtInMail,
  DATABASE_READ_URL:
    'Reports, lists and exports are read from DATABASE_URL, so give that server the resources of its replicas.',
  LOG_FILE: collectLogs,
  LOG_SYSLOG: collectLogs,
  NATS_URL:
    'Let a program follow the event feed of each account, or get webhooks, and pass the events on: docs/webhooks.md.',
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: collectLogs,
  OTEL_LOGS_EXPORTER: collectLogs,
};

/**
 * Refuses settings that have no effect anymore, because what depends on them would be missing silently.
 * @throws OperatorError
 */
export function refuseRemovedSettings(environment: Environment): void {
  // OpenTelemetry's `none` asks for no export, and there is none.
  const isSet = (variable: string) => !['', 'none'].includes(environment[variable]?.trim() ?? '');
  const lines = Object.entries(removedSettings).flatMap(([name, instead]) =>
    [name, `${name}_FILE`]
      .filter(isSet)
      .map((variable) => `${variable} was removed; unset it. ${instead}`),
  );
  if (lines.length > 0) throw new OperatorError(lines.join('\n'));
}
