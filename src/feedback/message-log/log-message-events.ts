import type { Database } from '../../foundation/database/open-database.ts';
import { domainOf, type EmailAddress } from '../../foundation/email-address.ts';
import type { Log } from '../../foundation/log.ts';
import { LogTail } from '../../foundation/log-output/log-tail.ts';
import { readTraceContext } from '../../foundation/tracing/trace-context.ts';
import {
  findMessageWindowEnd,
  type MessageEventRow,
  readMessageWindow,
} from './message-log-store.ts';

/**
 * Writes each event of a message as a line, whatever LOG_LEVEL is.
 * @param withAddresses write whole addresses instead of their domains
 */
export function logMessageEvents(
  database: Database,
  log: Log,
  withAddresses: boolean,
): LogTail<MessageEventRow> {
  const lines = log.child({ log: 'message' }, { level: 'info' });
  return new LogTail({
    name: 'message',
    database,
    log,
    findEnd: findMessageWindowEnd,
    read: readMessageWindow,
    write: (row) => lines.info(describeRow(row, withAddresses), 'message event'),
  });
}

/** Without the texts of replies and reasons, which can quote an address. */
function describeRow(row: MessageEventRow, withAddresses: boolean): object {
  const { address, reply, cause, trace, ...members } = row;
  const code = /^\d{3}/.exec(reply ?? '')?.[0];
  const [, trace_id, span_id] = readTraceContext(trace)?.traceparent.split('-') ?? [];
  return {
    ...members,
    domain: address === null ? undefined : domainOf(address as EmailAddress),
    ...(withAddresses && { address }),
    ...(code !== undefined && { replyCode: Number(code) }),
    ...(cause !== null && { cause }),
    ...(trace_id !== undefined && { trace_id, span_id }),
  };
}
