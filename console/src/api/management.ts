import createClient from 'openapi-fetch';
import { confirmation } from '../confirmation/pending-confirmation.ts';
import type { paths } from './management.generated.ts';
import { ApiProblem } from './problem.ts';

/**
 * The management API client. The header proves that a page of this origin sent the request; other sites can't set it without a
 * CORS preflight.
 */
export const api = createClient<paths>({
  baseUrl: '/manage/v1',
  headers: { 'x-signalpost-request': 'console' },
});
api.use(confirmation);

/** Request options for sending a file as is. */
export const csvFile = {
  bodySerializer: <File>(file: File) => file,
  headers: { 'content-type': 'text/csv' },
};

/** The result of openapi-fetch. */
export interface Result<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The response data.
 * @throws ApiProblem for an error response
 */
export async function answerOf<Data>(request: Promise<Result<Data>>): Promise<Data> {
  const { data, error, response } = await request;
  if (response.ok) return data as Data;
  const body = typeof error === 'object' && error !== null ? error : {};
  throw new ApiProblem(response.status, body as Readonly<Record<string, unknown>>);
}

/** The response data with its ETag, to send in `If-Match` with a change. */
export async function taggedAnswerOf<Data>(
  request: Promise<Result<Data>>,
): Promise<{ readonly value: Data; readonly tag: string | undefined }> {
  const { response } = await request;
  const value = await answerOf(request);
  return { value, tag: response.headers.get('etag') ?? undefined };
}

/** The precondition of a change (RFC 9110 section 13.1). */
export interface Precondition {
  readonly headers: Record<string, string>;
}

/** The header that makes a change fail if the resource has changed since it was read. */
export function ifMatch(tag: string | undefined): Precondition {
  return { headers: tag === undefined ? {} : { 'if-match': tag } };
}
