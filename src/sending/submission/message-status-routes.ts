import { tokenOperations } from '../../accounts/access/token-operations.ts';
import type { Database } from '../../base/database/open-database.ts';
import { Fault } from '../../base/values/errors.ts';
import { parseMessageId } from '../../base/values/ids.ts';
import { describeMessage } from '../../content/message/describe-message.ts';
import { readMessageStatus } from '../../content/message/message-status-store.ts';
import { allowOnlyMethod } from '../../host/http/allow-only-method.ts';
import { answerFault } from '../../host/http/answer-fault.ts';
import type { Http } from '../../host/http/create-http.ts';
import { type AdmissionDependencies, admitCaller } from './admit-caller.ts';
import { withTimeout } from './with-timeout.ts';

export interface MessageStatusDependencies extends AdmissionDependencies {
  readonly database: Database;
}

interface StatusRoute {
  /** Absent if an id is empty or contains a slash, which also yields INVALID_ID. */
  Params: { accountId?: string; messageId?: string };
}

/**
 * `GET /ete/v1/message/{account_id}/{message_id}`: a message's state, recipients, events and next attempt with its
 * reason.
 *
 * In: `Authorization: Bearer` with an access token or an API key. Out: 200 with the message, even for a suspended
 * account so that users can see what is held; 401 UNAUTHORIZED; 400 INVALID_ID for an account or message that is
 * unknown or belongs to someone else.
 */
export function registerMessageStatusRoute(
  http: Http,
  dependencies: MessageStatusDependencies,
): void {
  for (const path of ['/ete/v1/message/:accountId/:messageId', '/ete/v1/message/*']) {
    const config = { access: tokenOperations.status.permission };
    http.get<StatusRoute>(path, { errorHandler: answerFault, config }, async (request, reply) => {
      const { accountId = '', messageId: messageText = '' } = request.params;
      const { account } = await withTimeout(
        admitCaller(dependencies, tokenOperations.status, {
          authorization: request.headers.authorization,
          accountText: accountId,
          remoteAddress: () => request.ip,
        }),
      );
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
