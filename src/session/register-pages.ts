import type { Http } from '../http/create-http.ts';
import { answerPageError } from './answer-page-error.ts';
import { acceptForms } from './form-body.ts';
import { copyScript, passkeyScript, passwordScript } from './pages/page-script.ts';

/** Registers a scope for pages: it parses forms, turns errors into pages and serves their script. */
export function registerPages(http: Http, register: (scope: Http) => void): void {
  http.register(async (scope) => {
    acceptForms(scope);
    scope.setErrorHandler(answerPageError);
    for (const script of [passkeyScript, passwordScript, copyScript])
      scope.get(script.path, async (request, reply) => {
        reply
          .type('text/javascript; charset=utf-8')
          .header('cache-control', 'public, max-age=31536000, immutable')
          .header('x-content-type-options', 'nosniff');
        return script.content.send(request, reply);
      });
    register(scope);
  });
}
