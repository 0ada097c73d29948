import type { Http } from '../http/create-http.ts';
import type { AnswerProblem } from './answer-problem.ts';
import { type CapturedMessage, parseInboxMessageId } from './inbox-message.ts';
import type { InboxStore } from './inbox-store.ts';
import { prepareHtml } from './prepare-html.ts';

/**
 * What the HTML of a message may do, wherever it is opened: show itself with its own style and the pictures that it
 * carries, and open links in new tabs. No script, no form, nothing from elsewhere, no origin to act under.
 */
const mailPolicy = [
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ');

interface MessageAddress {
  Params: { id: string };
}

/**
 * `GET /inbox/messages/{id}/html`: the HTML part for the frame of the message page.
 * `GET /inbox/messages/{id}/source`: the message byte for byte, to be saved as a file.
 */
export function registerMessageContentRoutes(
  http: Http,
  store: Pick<InboxStore, 'read'>,
  answerProblem: AnswerProblem,
): void {
  const read = async (text: string): Promise<CapturedMessage | undefined> => {
    const id = parseInboxMessageId(text);
    return id && store.read(id);
  };
  http.get<MessageAddress>('/messages/:id/html', async (request, reply) => {
    const message = await read(request.params.id);
    if (message === undefined || message.html === null) {
      return answerProblem(request, reply, { status: 404, message: 'HTML part not found.' });
    }
    return reply
      .headers({
        'content-security-policy': mailPolicy,
        'referrer-policy': 'no-referrer',
        // Browsers look up the hosts of links before anybody follows one.
        'x-dns-prefetch-control': 'off',
      })
      .type('text/html; charset=utf-8')
      .send(prepareHtml(message.html).html);
  });
  http.get<MessageAddress>('/messages/:id/source', async (request, reply) => {
    const message = await read(request.params.id);
    if (message === undefined) {
      return answerProblem(request, reply, { status: 404, message: 'Message not found.' });
    }
    return reply
      .header('content-disposition', `attachment; filename="${message.id}.eml"`)
      .header('content-security-policy', "default-src 'none'; sandbox")
      .type('message/rfc822')
      .send(message.source);
  });
}
