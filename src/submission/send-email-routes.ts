import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../foundation/errors.ts';
import { answerFault, toFault } from '../http/answer-fault.ts';
import type { Http } from '../http/create-http.ts';
import { type Admission, type AdmissionParts, admitCaller } from './admit-caller.ts';
import type { Receipt } from './commit-message.ts';
import { inTime } from './in-time.ts';
import { keepRawBodies, unusableReason } from './raw-body.ts';
import { type SendParts, sendEmail } from './send-email.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';

interface SendRoute {
  Params: PathIds;
  Body: Buffer | undefined;
}

/** The ids as the path has them; none where one is empty or holds a slash. */
interface PathIds {
  accountId?: string;
  templateId?: string;
}

export interface SendRouteParts extends AdmissionParts, SendParts {
  readonly metrics: SubmissionMetrics;
}

/**
 * `POST /ete/v1/email/{account_id}/{template_id}` (section 4.3): asks for one email from a stored template.
 *
 * In: `Authorization: Bearer TOKEN`, `Content-Type: application/json`, the body of section 2.2, optionally
 * `Idempotency-Key`. Out: 200 once the message is committed and flushed, with `messageId` and `suppressedRecipients`;
 * `Idempotency-Replayed: true` where an earlier request with the key was accepted. Else the errors of section 7, by the
 * first check that applies: 1 token, 2 account, 3 suspension, 4 idempotency key, 5 template, 6 body, 7 sender,
 * 8 personalization, 9 suppression, 10 commit. The first three are decided before the body is read, so that strangers
 * cannot make the service keep bodies.
 */
export function registerSendEmailRoute(http: Http, parts: SendRouteParts): void {
  const admissions = new WeakMap<FastifyRequest<SendRoute>, Admission>();

  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const fault = toFault(error);
    parts.metrics.refused(fault.code);
    return answerFault(fault, request, reply);
  };

  const admit = (request: FastifyRequest<SendRoute>): Promise<void> | undefined => {
    const admission = admitCaller(
      parts,
      request.headers.authorization,
      request.params.accountId ?? '',
    );
    if (admission instanceof Promise)
      return inTime(admission).then((found) => keep(request, found));
    keep(request, admission);
    return undefined;
  };

  const keep = (request: FastifyRequest<SendRoute>, admission: Admission): void => {
    if (admission.account.suspended) throw new Fault('ACCOUNT_SUSPENDED');
    admissions.set(request, admission);
  };

  const answer = async (
    request: FastifyRequest<SendRoute>,
    reply: FastifyReply,
    body: Buffer | { readonly unusable: string },
  ): Promise<FastifyReply> => {
    const { headers, params } = request;
    const admission = admissions.get(request);
    if (admission === undefined) throw new Error('a request reached its handler unadmitted');
    const receipt = await sendEmail(parts, {
      admission,
      templateText: params.templateId ?? '',
      contentType: headers['content-type'],
      idempotencyKey: headers['idempotency-key'],
      body,
    });
    parts.metrics.accepted(reply.elapsedTime);
    if (receipt.replayed) reply.header('idempotency-replayed', 'true');
    return reply.type('application/json; charset=utf-8').send(toBody(receipt));
  };

  http.register(async (scope) => {
    keepRawBodies(scope);
    scope.setErrorHandler<Error, SendRoute>(async (error, request, reply) => {
      const unusable = admissions.has(request) ? unusableReason(error, request) : undefined;
      if (unusable === undefined) return refuse(error, request, reply);
      // What is wrong with the body is said when its check comes.
      reply.removeHeader('connection');
      try {
        return await answer(request, reply, { unusable });
      } catch (fault) {
        return refuse(fault, request, reply);
      }
    });
    scope.addHook<SendRoute>('onRequest', (request, _reply, done) => {
      try {
        const waiting = admit(request);
        if (waiting === undefined) done();
        else waiting.then(() => done(), done);
      } catch (error) {
        done(error as Error);
      }
    });
    const handler = (request: FastifyRequest<SendRoute>, reply: FastifyReply) =>
      answer(request, reply, request.body ?? noBody);
    scope.post<SendRoute>('/ete/v1/email/:accountId/:templateId', handler);
    // A path whose ids are empty or hold a slash is an Invalid ID too, after the token was checked.
    scope.post<SendRoute>('/ete/v1/email/*', handler);
  });
}

const noBody = Buffer.alloc(0);

function toBody(receipt: Receipt): string {
  const suppressed = receipt.suppressedRecipients;
  const list = suppressed.length === 0 ? '[]' : JSON.stringify(suppressed);
  return `{"success":true,"message":"Successfully Accepted","messageId":"${receipt.messageId}","suppressedRecipients":${list}}`;
}
