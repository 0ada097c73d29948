import type { IncomingMessage } from 'node:http';
import { tokenOperations } from '../../accounts/access/token-operations.ts';
import type { Account } from '../../accounts/account/account.ts';
import { allowOnlyMethod } from '../../host/http/allow-only-method.ts';
import { answerFaultDirectly, toFault } from '../../host/http/answer-fault.ts';
import type { Http } from '../../host/http/create-http.ts';
import type { Exchange } from '../../host/http/exchange.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { RawBody } from '../../host/http/read-body.ts';
import { type AdmissionDependencies, admitCaller, admitWriter } from './admit-caller.ts';
import { attachmentLimitOf } from './check-attachments.ts';
import type { Receipt } from './commit-message.ts';
import { readPathAccount, readPathIds, sendPrefix } from './read-path-ids.ts';
import { type ContentRequest, sendContentBody } from './send-content.ts';
import type { SendDependencies } from './send-dependencies.ts';
import { sendEmail } from './send-email.ts';
import { statusMember } from './status-link.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';
import { withTimeout } from './with-timeout.ts';

export interface SendRouteDependencies extends AdmissionDependencies, SendDependencies {
  readonly metrics: SubmissionMetrics;
}

/**
 * `POST /ete/v1/email/{account_id}/{template_id}` (section 4.3): sends one email from a stored template.
 *
 * In: `Authorization: Bearer` with an access token or an API key, `Content-Type: application/json`, the body of section
 * 2.2, optionally `Idempotency-Key`. Out: 200 once the message is committed and flushed, with `messageId` and
 * `suppressedRecipients`; `Idempotency-Replayed: true` if an earlier request with the key was accepted.
 *
 * Otherwise an error of section 7, from the first check that fails: 1 token, 2 account and permission, 3 suspension, 4
 * idempotency key, 5 template, 6 body, 7 sender, 8 personalization, 9 suppression, 10 commit. The first three run
 * before the body is read, so unauthorized callers can't make the service buffer bodies.
 */
export function registerSendEmailRoute(http: Http, dependencies: SendRouteDependencies): void {
  const name = `${sendPrefix}:accountId/:templateId`;
  http.direct.post(sendPrefix, name, async (exchange) => {
    await answerSend(dependencies, exchange, send);
  });
  allowOnlyMethod(http, 'POST', name);
}

/**
 * `POST /ete/v1/email/{account_id}`: sends one email whose content is in the request.
 *
 * In: `Authorization: Bearer` with an API key that has `messages:send-content`, `Content-Type: application/json`, the body of
 * `contentBodySchema`, optionally `Idempotency-Key`. Each address of To, Cc and Bcc gets a message of its own, as over SMTP.
 * Out: as the send operation, with the ID of the To address's message. The checks are those of the send operation in their
 * order, without the template.
 */
export function registerSendContentRoute(http: Http, dependencies: SendRouteDependencies): void {
  const path = `${sendPrefix}:accountId`;
  // With a slash at its end, it's the path of a template whose ID is empty.
  http.direct.postTo(path, (exchange) => answerSend(dependencies, exchange, sendOwnContent), '');
  allowOnlyMethod(http, 'POST', path);
}

async function answerSend(
  dependencies: SendRouteDependencies,
  exchange: Exchange,
  accept: (dependencies: SendRouteDependencies, exchange: Exchange) => Promise<Receipt>,
): Promise<void> {
  try {
    const receipt = await accept(dependencies, exchange);
    dependencies.metrics.accepted(exchange.elapsed);
    // A replay may respond while a content is still being written.
    if (!receipt.replayed) exchange.recycleBody();
    exchange.answer(200, toBody(receipt), receipt.replayed ? replayed : undefined);
  } catch (error) {
    const fault = toFault(error);
    dependencies.metrics.refused(fault.code);
    answerFaultDirectly(fault, exchange);
  }
}

const replayed = ['idempotency-replayed', 'true'];

async function send(dependencies: SendRouteDependencies, exchange: Exchange): Promise<Receipt> {
  const { request } = exchange;
  const { headers } = request;
  const [accountText, templateText] = readPathIds(request.url ?? '');
  const admission = await withTimeout(
    admitCaller(dependencies, tokenOperations.send, {
      authorization: headers.authorization,
      accountText,
      remoteAddress: () => exchange.remoteAddress,
    }),
  );
  const read = await readRequest(dependencies, exchange, admission.account);
  return sendEmail(dependencies, { admission, templateText, ...read });
}

async function sendOwnContent(
  dependencies: SendRouteDependencies,
  exchange: Exchange,
): Promise<Receipt> {
  const { url = '', headers } = exchange.request;
  const right = await withTimeout(
    admitWriter(dependencies, {
      authorization: headers.authorization,
      accountText: readPathAccount(url),
      remoteAddress: () => exchange.remoteAddress,
    }),
  );
  return sendContentBody(
    dependencies,
    right,
    await readRequest(dependencies, exchange, right.account),
  );
}

/** What follows checks 1 to 3. */
async function readRequest(
  { attachmentSettings }: SendRouteDependencies,
  exchange: Exchange,
  account: Account,
): Promise<ContentRequest> {
  const { request } = exchange;
  const { headers } = request;
  const limit = attachmentLimitOf(account, attachmentSettings);
  const maxBytes = limit === 0 ? undefined : sendBodyBytes + limit;
  return {
    contentType: headers['content-type'],
    idempotencyKey: keyOf(request),
    body: await readPlainBody(exchange, account.id, maxBytes),
    span: exchange.span,
  };
}

/** The body of an admitted caller, which can't be compressed. @param maxBytes if it may be larger than the route's limit */
export async function readPlainBody(
  exchange: Exchange,
  account: string,
  maxBytes: number | undefined,
): Promise<RawBody> {
  const body = await exchange.readBody(account, maxBytes);
  return isPlain(exchange.request.headers['content-encoding']) ? body : encodedBody;
}

export const encodedBody = {
  unusable: 'Content-Encoding is not supported; send the body uncompressed',
};

/** True unless the body is compressed. */
export function isPlain(encoding: string | undefined): boolean {
  return encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity';
}

/** Node joins repeated headers with a comma, which a key may also contain. */
function keyOf(request: IncomingMessage): string | string[] | undefined {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || !key.includes(',')) return key;
  const fields = request.headersDistinct['idempotency-key'];
  return fields?.length === 1 ? key : fields;
}

function toBody(receipt: Receipt): string {
  const suppressed = receipt.suppressedRecipients;
  const list = suppressed.length === 0 ? '[]' : JSON.stringify(suppressed);
  return `{"success":true,"message":"Successfully Accepted","messageId":"${receipt.messageId}","suppressedRecipients":${list}${statusMember(receipt.statusUrl)}}`;
}
