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
