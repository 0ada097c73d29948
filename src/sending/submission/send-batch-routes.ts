import { tokenOperations } from '../../accounts/access/token-operations.ts';
import type { FaultCode } from '../../base/values/errors.ts';
import { allowOnlyMethod } from '../../host/http/allow-only-method.ts';
import { answerFaultDirectly, logFault, toFault } from '../../host/http/answer-fault.ts';
import type { Http } from '../../host/http/create-http.ts';
import type { Exchange } from '../../host/http/exchange.ts';
import { type AdmissionDependencies, admitCaller, type SendAdmission } from './admit-caller.ts';
import { findSendableTemplate } from './check-message.ts';
import { unusableField } from './describe-body-problems.ts';
import { isJsonType, unusableBody, wrongContentType } from './read-body-json.ts';
import { readPathIds, sendPrefix } from './read-path-ids.ts';
import type { BatchSender } from './send-batch.ts';
import type { SendDependencies } from './send-dependencies.ts';
import { encodedBody, isPlain } from './send-email-routes.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';
import { withTimeout } from './with-timeout.ts';

export interface BatchRouteDependencies
  extends AdmissionDependencies,
    Pick<SendDependencies, 'templates'> {
  readonly batches: BatchSender;
  readonly metrics: SubmissionMetrics;
}

/**
 * `POST /ete/v1/email/{account_id}/{template_id}/batch`: sends up to 1,000 emails from a stored template.
 *
 * In: as the send operation, with the body `{"messages": [ … ]}` of send bodies, each with an optional `idempotencyKey`
 * instead of the header. Out: 200 with `{"results": [ … ]}`, in order: for each message the body that the send operation
 * would return, with its `status`.
 *
 * An error that concerns all messages gets the same response as there. Everything that the head of the request decides is checked before the
 * body is read.
 */
export function registerSendBatchRoute(http: Http, dependencies: BatchRouteDependencies): void {
  const path = `${sendPrefix}:accountId/:templateId/batch`;
  http.direct.postTo(path, async (exchange) => {
    try {
      const results = await sendBatch(dependencies, exchange);
      exchange.answer(200, `{"results":[${results.join(',')}]}`);
    } catch (error) {
      const fault = toFault(error);
      dependencies.metrics.refused(fault.code);
      answerFaultDirectly(fault, exchange);
    }
  });
  allowOnlyMethod(http, 'POST', path);
}

async function sendBatch(
  dependencies: BatchRouteDependencies,
  exchange: Exchange,
): Promise<readonly string[]> {
  const { headers, url = '' } = exchange.request;
  const [accountText, templateText] = readPathIds(url, 'batch');
  // Kept, because the connection may be gone when a later chunk is admitted.
  let address: string | undefined;
  const remoteAddress = (): string => {
    address ??= exchange.remoteAddress;
    return address;
  };
  const admit = async (): Promise<SendAdmission> =>
    withTimeout(
      admitCaller(dependencies, tokenOperations.batch, {
        authorization: headers.authorization,
        accountText,
        remoteAddress,
      }),
    );
  const admission = await admit();
  if (headers['idempotency-key'] !== undefined) throw unusableField('Idempotency-Key', refusedKey);
  await withTimeout(findSendableTemplate(dependencies, admission, templateText));
  if (!isPlain(headers['content-encoding'])) throw unusableBody(encodedBody.unusable);
  if (!isJsonType(headers['content-type'])) throw unusableBody(wrongContentType);
  const body = await exchange.readBody(admission.account.id);
  if ('unusable' in body) throw unusableBody(body.unusable);
  const { metrics, batches } = dependencies;
  const logged = new Set<FaultCode>();
  return batches.send({
    accountId: admission.account.id,
    templateText,
    body,
    requestId: exchange.id,
    span: exchange.span,
    admit,
    onAccepted: () => metrics.acceptedInBatch(),
    onFault: (fault) => {
      metrics.refused(fault.code);
      // A fault of the service usually hits every message.
      if (!logged.has(fault.code)) logFault(fault, exchange);
      logged.add(fault.code);
    },
  });
}

const refusedKey = 'must not be sent with a batch; give each message an idempotencyKey';
