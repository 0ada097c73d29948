import type { Http } from '../http/create-http.ts';
import type { AnswerProblem } from './answer-problem.ts';
import { type CheckInboxAccess, setSecurityHeaders } from './guard-inbox.ts';
import type { InboxBrowsers } from './inbox-browsers.ts';

/**
 * `GET /inbox/enter?code=`: the link printed at startup. Its code works once and gives the browser a cookie, then
 * redirects to the inbox (303). A browser that already has access gets there with an old link too; others get a 401
 * with instructions.
 */
export function registerEnterInboxRoutes(
  http: Http,
  browsers: Pick<InboxBrowsers, 'admit'>,
  checkAccess: CheckInboxAccess,
  answerProblem: AnswerProblem,
): void {
  // Link scanners send HEAD requests before people follow the link.
  http.get('/enter', { exposeHeadRoute: false }, async (request, reply) => {
    setSecurityHeaders(reply);
    const { code } = request.query as Readonly<Record<string, unknown>>;
    const admitted = typeof code === 'string' && (await browsers.admit(code, request, reply));
    if (admitted || (await checkAccess(request)) === 'open') return reply.redirect('/inbox', 303);
    const message = 'This link has expired or was used in another browser.';
    return answerProblem(request, reply, { status: 401, message });
  });
}
