import type { Http } from '../http/create-http.ts';
import { answerPageError } from './answer-page-error.ts';
import { acceptForms } from './form-body.ts';
import { stylesheetPath } from './pages/layout.ts';
import { stylesheet } from './pages/stylesheet.ts';

/** Registers a scope for pages: it parses forms, turns errors into pages and serves the stylesheet. */
export function registerPages(http: Http, register: (scope: Http) => void): void {
  http.register(async (scope) => {
    acceptForms(scope);
    scope.setErrorHandler(answerPageError);
    scope.get(stylesheetPath, (_request, reply) =>
      reply
        .type('text/css; charset=utf-8')
        .header('cache-control', 'public, max-age=3600')
        .header('x-content-type-options', 'nosniff')
        .send(stylesheet),
    );
    register(scope);
  });
}
