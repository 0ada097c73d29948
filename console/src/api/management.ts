import createClient from 'openapi-fetch';
import type { paths } from './management.generated.ts';
import { ApiProblem } from './problem.ts';

/**
 * The management API. The header says that a page of this origin sent the request: pages of other sites cannot send it
 * without being asked about first.
 */
export const api = createClient<paths>({
  baseUrl: '/manage/v1',
  headers: { 'x-signalpost-request': 'console' },
});

/** What goes with a file that is sent as it is. */
export const csvFile = {
  bodySerializer: <File>(file: File) => file,
  headers: { 'content-type': 'text/csv' },
};

/** What openapi-fetch says of a request. */
export interface Result<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * What the API answered.
 * @throws ApiProblem where it refused
 */
export async function answerOf<Data>(request: Promise<Result<Data>>): Promise<Data> {
  const { data, error, response } = await request;
  if (response.ok) return data as Data;
  const body = typeof error === 'object' && error !== null ? error : {};
  throw new ApiProblem(response.status, body as Readonly<Record<string, unknown>>);
}

/** What the API answered with its entity tag, to be sent back in `If-Match` with a change. */
export async function taggedAnswerOf<Data>(
  request: Promise<Result<Data>>,
): Promise<{ readonly value: Data; readonly tag: string | undefined }> {
  const { response } = await request;
  const value = await answerOf(request);
  return { value, tag: response.headers.get('etag') ?? undefined };
}

/** Under which condition a change is made (RFC 9110 section 13.1). */
export interface Precondition {
  readonly headers: Record<string, string>;
}

/** The header that lets a change through only while the thing is as it was read. */
export function ifMatch(tag: string | undefined): Precondition {
  return { headers: tag === undefined ? {} : { 'if-match': tag } };
}
