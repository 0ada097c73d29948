import type { FastifyRequest } from 'fastify';
import { isUnavailable } from '../foundation/database/sqlstate.ts';
import type { Http } from '../http/create-http.ts';
import type { AnswerProblem } from './answer-problem.ts';
import { ParameterError } from './message-parameters.ts';

/** Handles errors below `/inbox`: 400 for an invalid parameter, 503 if the database is unavailable. */
export function answerInboxErrors(inbox: Http, answerProblem: AnswerProblem): void {
  inbox.setErrorHandler((error, request, reply) => {
    if (error instanceof ParameterError) {
      const { message, parameter } = error;
      return answerProblem(request, reply, { status: 400, message, parameter });
    }
    if (isUnavailable(error)) {
      logFailure(request, error);
      const message = 'The inbox is temporarily unavailable. Try again shortly.';
      return answerProblem(request, reply, { status: 503, message });
    }
    throw error;
  });
}

/** Responds to unknown paths with 404, after the access check of the scope. */
export function answerUnknownPages(inbox: Http, answerProblem: AnswerProblem): void {
  inbox.setNotFoundHandler((request, reply) =>
    answerProblem(request, reply, { status: 404, message: 'This page doesn’t exist.' }),
  );
}

function logFailure(request: FastifyRequest, error: unknown): void {
  request.log.error({ err: error, requestId: request.id }, 'could not read the inbox');
}
