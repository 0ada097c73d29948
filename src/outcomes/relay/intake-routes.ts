import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/values/clock.ts';
import type { Http } from '../../host/http/create-http.ts';
import { skipBody } from '../../host/http/read-body.ts';
import { fieldsOf, textOf } from './json-fields.ts';
import { isFromMailgun, mailgunToken, readMailgun } from './read-mailgun.ts';
import { readPostmark } from './read-postmark.ts';
import { isFromSendgrid, readSendgrid } from './read-sendgrid.ts';
import { readSes } from './read-ses.ts';
import type { RelayReport } from './relay-event.ts';
import { type FetchText, isSnsAddress, SnsSignatures } from './sns-signature.ts';

/** Credentials that relays authenticate with. A relay without one has no route. */
export interface IntakeSecrets {
  /** Amazon SNS topics to accept; anyone can create a topic. */
  readonly snsTopics: readonly string[];
  /** HTTP Basic password sent by Postmark. */
  readonly postmarkPassword: string | undefined;
  readonly mailgunKey: string | undefined;
  readonly sendgridKey: string | undefined;
}

export interface IntakeRouteDependencies {
  readonly secrets: IntakeSecrets;
  readonly clock: Clock;
  readonly fetchText: FetchText;
  readonly write: (reports: readonly RelayReport[]) => Promise<void>;
  /** Writes the reports unless the token was used before, in one commit. */
  readonly writeOnce: (token: string, reports: readonly RelayReport[]) => Promise<void>;
}

/** The server answers 503 with Retry-After and logs the cause. */
class SnsUnavailable extends Error {
  override name = 'SnsUnavailable';
  readonly statusCode = 503;

  constructor(cause: unknown) {
    super('Amazon SNS can’t be reached', { cause });
  }
}

/**
 * `POST /intake/{ses,postmark,mailgun,sendgrid}`: relay webhooks. 200 once committed; 401 if authentication fails; 400
 * for invalid JSON; 503 if the database or Amazon SNS is unavailable, so that the relay retries.
 */
export function registerIntakeRoutes(http: Http, dependencies: IntakeRouteDependencies): void {
  const { secrets, clock, write } = dependencies;
  const { snsTopics, postmarkPassword, mailgunKey, sendgridKey } = secrets;
  const fetchFromSns: FetchText = (url) =>
    dependencies.fetchText(url).catch((cause: unknown) => {
      throw new SnsUnavailable(cause);
    });
  const signatures = new SnsSignatures(fetchFromSns);
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // SNS sends JSON as text/plain, and signatures cover the raw body.
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    if (snsTopics.length > 0) {
      scope.post('/intake/ses', async (request, reply) => {
        const body = jsonOf(request);
        if (body === undefined) return refuse(reply, 400);
        const message = fieldsOf(body);
        if (!snsTopics.includes(textOf(message.TopicArn))) return refuse(reply, 401);
        if (!(await signatures.isSigned(message))) return refuse(reply, 401);
        if (
          message.Type === 'SubscriptionConfirmation' &&
          isSnsAddress(textOf(message.SubscribeURL))
        )
          await fetchFromSns(textOf(message.SubscribeURL));
        if (message.Type === 'Notification') await write(readSes(parse(textOf(message.Message))));
        return reply.send({ success: true });
      });
    }
    if (postmarkPassword !== undefined) {
      scope.post('/intake/postmark', {
        onRequest: requireCredentials((request) => hasPassword(request, postmarkPassword)),
        handler: (request, reply) => handle(request, reply, readPostmark),
      });
    }
    if (mailgunKey !== undefined) {
      scope.post('/intake/mailgun', async (request, reply) => {
        const body = jsonOf(request);
        if (!isFromMailgun(body, mailgunKey, clock.now())) return refuse(reply, 401);
        const reports = readMailgun(body);
        if (reports.length > 0)
          await dependencies.writeOnce(`mailgun ${mailgunToken(body)}`, reports);
        return reply.send({ success: true });
      });
    }
    if (sendgridKey !== undefined) {
      scope.post('/intake/sendgrid', {
        onRequest: requireCredentials((request) => {
          const { timestamp, signature } = sendgridSignature(request);
          return timestamp !== '' && signature !== '';
        }),
        handler: async (request, reply) => {
          const { timestamp, signature } = sendgridSignature(request);
          if (!isFromSendgrid(textOf(request.body), timestamp, signature, sendgridKey))
            return refuse(reply, 401);
          return handle(request, reply, readSendgrid);
        },
      });
    }
  });

  async function handle(
    request: FastifyRequest,
    reply: FastifyReply,
    read: (body: unknown) => RelayReport[],
  ): Promise<FastifyReply> {
    const body = jsonOf(request);
    if (body === undefined) return refuse(reply, 400);
    await write(read(body));
    return reply.send({ success: true });
  }
}

/** Rejects requests without usable credentials before reading the body. */
function requireCredentials(hasCredentials: (request: FastifyRequest) => boolean) {
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> => {
    if (hasCredentials(request)) return undefined;
    skipBody(request, reply);
    return refuse(reply, 401);
  };
}

function sendgridSignature({ headers }: FastifyRequest) {
  return {
    timestamp: textOf(headers['x-twilio-email-event-webhook-timestamp']),
    signature: textOf(headers['x-twilio-email-event-webhook-signature']),
  };
}

function refuse(reply: FastifyReply, status: 400 | 401): FastifyReply {
  const message =
    status === 400
      ? 'The body isn’t valid JSON'
      : 'Authentication failed. Check the topic, password or key.';
  return reply.code(status).send({ status, message });
}

function jsonOf(request: FastifyRequest): unknown {
  return parse(textOf(request.body));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** RFC 7617. Compares hashes, so that timing reveals neither content nor length. */
function hasPassword(request: FastifyRequest, password: string): boolean {
  const encoded =
    /^Basic +([A-Za-z0-9+/=]{1,1000})$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const given = pair.slice(pair.indexOf(':') + 1);
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(password));
}
