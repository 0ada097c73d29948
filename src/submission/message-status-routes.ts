import { tokenOperations } from '../access/token-operations.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { Fault } from '../foundation/errors.ts';
import { parseMessageId } from '../foundation/ids.ts';
import { allowOnlyMethod } from '../http/allow-only-method.ts';
import { answerFault } from '../http/answer-fault.ts';
import type { Http } from '../http/create-http.ts';
import { describeMessage } from '../message/describe-message.ts';
import { readMessageStatus } from '../message/message-status-store.ts';
import { type AdmissionDependencies, admitCaller } from './admit-caller.ts';
import { withTimeout } from './with-timeout.ts';

export interface MessageStatusDependencies extends AdmissionDependencies {
  readonly database: Database;
}

interface StatusRoute {
  /** None where one is empty or holds a slash: an Invalid ID too. */
  Params: { accountId?: string; messageId?: string };
}

/**
 * `GET /ete/v1/message/{account_id}/{message_id}`: how far a message is: state, recipients, events, next attempt and why.
 *
 * In: `Authorization: Bearer` with an access token or an API key. Out: 200 with the message, also of a suspended account, so that it can be seen what
 * is held; 401 UNAUTHORIZED; 400 INVALID_ID for an unknown account or message, or one of somebody else.
 */
export function registerMessageStatusRoute(
  http: Http,
  dependencies: MessageStatusDependencies,
): void {
  for (const path of ['/ete/v1/message/:accountId/:messageId', '/ete/v1/message/*']) {
    http.get<StatusRoute>(path, { errorHandler: answerFault }, async (request, reply) => {
      const { accountId = '', messageId: messageText = '' } = request.params;
      const admission = admitCaller(dependencies, tokenOperations.status, {
        authorization: request.headers.authorization,
        accountText: accountId,
        remoteAddress: () => request.ip,
      });
      const { account } = admission instanceof Promise ? await withTimeout(admission) : admission;
      const messageId = parseMessageId(messageText);
      if (messageId === undefined) throw unknownMessage();
      const { kysely } = dependencies.database;
      const status = await withTimeout(readMessageStatus(kysely, account.id, messageId));
      if (status === undefined) throw unknownMessage();
      return reply
        .header('cache-control', 'no-store')
        .send(describeMessage(messageId, status, account));
    });
    allowOnlyMethod(http, 'GET', path);
  }
}

function unknownMessage(): Fault {
  return new Fault('INVALID_ID', {
    details: [{ field: 'messageId', reason: 'is not a message of this account' }],
  });
}
