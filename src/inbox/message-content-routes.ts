import type { Http } from '../http/create-http.ts';
import type { AnswerProblem } from './answer-problem.ts';
import { type CapturedMessage, parseInboxMessageId } from './inbox-message.ts';
import type { InboxStore } from './inbox-store.ts';
import { prepareHtml } from './prepare-html.ts';
import { showInlineImages } from './show-inline-images.ts';

/**
 * Allows a message's HTML only its own styles, embedded images and fonts, and links in new tabs. Blocks scripts, forms
 * and remote content, and gives the page an opaque origin.
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

interface MessageRoute {
  Params: { id: string };
}

/**
 * `GET /inbox/messages/{id}/html`: the HTML part for the frame of the message page.
 * `GET /inbox/messages/{id}/source`: the original bytes of the message, as a download.
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
  http.get<MessageRoute>('/messages/:id/html', async (request, reply) => {
    const message = await read(request.params.id);
    if (message === undefined || message.html === null) {
      return answerProblem(request, reply, { status: 404, message: 'HTML part not found.' });
    }
    // Without images, which can make it too large to prepare.
    const { html } = await prepareHtml(message.html);
    return reply
      .headers({
        'content-security-policy': mailPolicy,
        'referrer-policy': 'no-referrer',
        // Browsers would otherwise resolve the hosts of links in advance.
        'x-dns-prefetch-control': 'off',
      })
      .type('text/html; charset=utf-8')
      .send(await showInlineImages({ html, source: message.source }));
  });
  http.get<MessageRoute>('/messages/:id/source', async (request, reply) => {
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
