import type { Http } from '../http/create-http.ts';
import { answerPageError } from './answer-page-error.ts';
import { acceptForms } from './form-body.ts';

/** Registers a scope for pages: it parses forms and turns errors into pages. */
export function registerPages(http: Http, register: (scope: Http) => void): void {
  http.register(async (scope) => {
    acceptForms(scope);
    scope.setErrorHandler(answerPageError);
    register(scope);
  });
}
