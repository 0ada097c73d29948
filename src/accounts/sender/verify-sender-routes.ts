import type { FastifyReply } from 'fastify';
import type { Http } from '../../host/http/create-http.ts';
import { plainPage, plainPagePolicy } from '../../host/http/plain-page.ts';
import type { SenderVerification } from './sender-verification.ts';

/**
 * `GET /verify-sender/{token}` shows a confirmation page and changes nothing, because programs follow links too; `POST`
 * verifies the sender. 404 for an unknown, used or expired token.
 */
export function registerVerifySenderRoutes(http: Http, verification: SenderVerification): void {
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    scope.get<{ Params: { token: string } }>('/verify-sender/:token', async (request, reply) => {
      const facts = await verification.find(request.params.token);
      if (facts === undefined) return sendInvalidLinkPage(reply);
      const { address, accountName, accountId, askedBy } = facts;
      return sendConfirmationPage(
        reply,
        `Let ${accountName} send from ${address}?`,
        `${askedBy === address ? '' : `${askedBy ?? 'Someone'} asked for this: `}${accountName} (ID ${accountId}) wants to send email from ${address}. If you don’t know this account, close this page.`,
        { label: 'Confirm' },
      );
    });
    scope.post<{ Params: { token: string } }>('/verify-sender/:token', async (request, reply) => {
      const facts = await verification.find(request.params.token);
      const address = await verification.confirm(request.params.token, {
        remoteAddress: request.ip,
        requestId: request.id,
      });
      if (facts === undefined || address === undefined) return sendInvalidLinkPage(reply);
      const { accountName, accountId, askedBy } = facts;
      return sendConfirmationPage(
        reply,
        'Sender confirmed',
        `The account ${accountName} (ID ${accountId}) can now send from ${address}. You can close this page.`,
        // Only people with an account need a link back.
        askedBy === address ? { label: 'Open the console', href: '/console' } : undefined,
      );
    });
  });
}

function sendInvalidLinkPage(reply: FastifyReply): FastifyReply {
  const text = 'A link works once and expires after a day. Ask for a new one.';
  return sendConfirmationPage(reply.code(404), 'Link expired or already used', text);
}

function sendConfirmationPage(
  reply: FastifyReply,
  title: string,
  text: string,
  wayOn?: Parameters<typeof plainPage>[2],
): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .header('content-security-policy', plainPagePolicy)
    .type('text/html; charset=utf-8')
    .send(plainPage(title, text, wayOn));
}
