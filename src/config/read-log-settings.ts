import { isAbsolute, resolve } from 'node:path';
import { OperatorError } from '../foundation/errors.ts';
import type { LogOutputs, SyslogTarget } from '../foundation/log-output/log-outputs.ts';
import { readOtlpLogSettings } from './read-otlp-settings.ts';
import { readChoice, readSwitch } from './read-setting.ts';

type Read = (name: string) => string | undefined;

/** Lines that are written only if the operator asks for them. */
export interface LogLines {
  /** One for each HTTP request. */
  readonly access: boolean;
  /** One for each event of the audit log. */
  readonly audit: boolean;
  /** One for each event of a message, with or without the recipient's address; undefined: none. */
  readonly messages: 'events' | 'addresses' | undefined;
}

/** @throws OperatorError */
export function readLogLines(read: Read): LogLines {
  const messages = readChoice('LOG_MESSAGES', read('LOG_MESSAGES') ?? '0', ['0', '1', 'addresses']);
  return {
    access: readSwitch('LOG_ACCESS', read('LOG_ACCESS')) ?? false,
    audit: readSwitch('LOG_AUDIT', read('LOG_AUDIT')) ?? false,
    messages: messages === '0' ? undefined : messages === '1' ? 'events' : 'addresses',
  };
}

/** @throws OperatorError */
export function readLogOutputs(read: Read): LogOutputs {
  const file = read('LOG_FILE');
  return {
    file: file && resolve(file),
    syslog: readSyslog(read('LOG_SYSLOG')),
    otlp: readOtlpLogSettings(read),
  };
}

/** The default port of syslog over UDP (RFC 5426 section 3.3), which servers also use for TCP. */
const syslogPort = 514;

function readSyslog(text: string | undefined): SyslogTarget | undefined {
  if (text === undefined) return undefined;
  const [, path] = /^unix:(?:\/\/)?(.+)$/.exec(text) ?? [];
  if (path !== undefined && isAbsolute(path)) return { protocol: 'unix', path };
  const url = /^(?:udp|tcp):\/\/[^/?#@]+$/.test(text) ? URL.parse(text) : null;
  if (url === null)
    throw new OperatorError(
      `LOG_SYSLOG must be udp://host:port, tcp://host:port or unix:/path, not "${text}".`,
    );
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? syslogPort : Number(url.port);
  return url.protocol === 'udp:'
    ? { protocol: 'udp', host, port }
    : { protocol: 'tcp', host, port };
}
