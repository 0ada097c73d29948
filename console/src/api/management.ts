import createClient, {
  type Client,
  type ClientPathsWithMethod,
  type MethodResponse,
} from 'openapi-fetch';
import { confirmation } from '../confirmation/pending-confirmation.ts';
import type { paths } from './management.generated.ts';
import { ApiProblem } from './problem.ts';

type Method = 'get' | 'put' | 'post' | 'delete';

/** The paths of the OpenAPI document that have the method. */
export type PathOf<M extends Method> = ClientPathsWithMethod<Client<paths>, M>;

type Operation<Path, M extends Method> = Path extends keyof paths
  ? M extends keyof paths[Path]
    ? paths[Path][M]
    : never
  : never;

/** The values in a path. */
export type Params<Path, M extends Method> =
  Operation<Path, M> extends { parameters: { path: infer Given extends object } } ? Given : object;

export type Query<Path, M extends Method> =
  Operation<Path, M> extends { parameters: { query?: infer Given extends object } }
    ? Given
    : undefined;

type Content<Given> = Given extends { content: { 'application/json': infer Json } }
  ? Json
  : Given extends { content: { 'text/csv': unknown } }
    ? File
    : undefined;

export type Body<Path, M extends Method> =
  Operation<Path, M> extends { requestBody?: infer Given } ? Content<Given> : undefined;

/** What the API answers; undefined if the answer has no content. */
export type Answer<Path extends PathOf<M>, M extends Method> = [
  MethodResponse<Client<paths>, M, Path>,
] extends [never]
  ? undefined
  : MethodResponse<Client<paths>, M, Path>;

/** What else a change sends. */
interface More<Path, M extends Method> {
  readonly query?: Query<Path, M>;
  readonly headers?: Record<string, string>;
}

/** The body of a change if it has one, and what else it sends. */
type Change<Path, M extends Method> =
  undefined extends Body<Path, M>
    ? [body?: Body<Path, M>, more?: More<Path, M>]
    : [body: Body<Path, M>, more?: More<Path, M>];

/** Any operation. What each of them takes and answers is in the signatures below. */
interface AnyOperation {
  parameters: { path: Record<string, unknown>; query?: Record<string, unknown> };
  requestBody?: { content: { 'application/json': unknown } };
  responses: { 200: { content: { 'application/json': unknown } } };
}

/** The header proves that a page of this origin sent the request; other sites can't set it without a CORS preflight. */
const client = createClient<Record<string, Record<Method, AnyOperation>>>({
  baseUrl: '/manage/v1',
  headers: { 'x-signalpost-request': 'console' },
});
client.use(confirmation);

const csvFile = {
  bodySerializer: (file: unknown) => file,
  headers: { 'content-type': 'text/csv' },
};

export interface Tagged<Value> {
  readonly value: Value;
  /** The ETag, to send in `If-Match` with a change. */
  readonly tag: string | undefined;
}

export interface RequestParts {
  readonly query?: object | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly parseAs?: 'blob';
}

/** @throws ApiProblem for an error response */
export async function sendToApi(
  method: Method,
  path: string,
  params?: object,
  { query, ...parts }: RequestParts = {},
): Promise<Tagged<unknown>> {
  const { data, error, response } = await client.request(method, path, {
    params: { path: { ...params }, query: { ...query } },
    ...parts,
    ...(parts.body instanceof File && csvFile),
  });
  if (response.ok) return { value: data, tag: response.headers.get('etag') ?? undefined };
  throw new ApiProblem(response.status, { ...Object(error) });
}

function get<Path extends PathOf<'get'>>(
  path: Path,
  params?: Params<Path, 'get'>,
  query?: Query<Path, 'get'>,
): Promise<Answer<Path, 'get'>>;
async function get(path: string, params?: object, query?: object): Promise<unknown> {
  return (await sendToApi('get', path, params, { query })).value;
}

function getTagged<Path extends PathOf<'get'>>(
  path: Path,
  params: Params<Path, 'get'>,
): Promise<Tagged<Answer<Path, 'get'>>>;
function getTagged(path: string, params: object): Promise<Tagged<unknown>> {
  return sendToApi('get', path, params);
}

function putTagged<Path extends PathOf<'put'>>(
  path: Path,
  params: Params<Path, 'put'>,
  ...change: Change<Path, 'put'>
): Promise<Tagged<Answer<Path, 'put'>>>;
function putTagged(
  path: string,
  params: object,
  body?: unknown,
  more?: object,
): Promise<Tagged<unknown>> {
  return sendToApi('put', path, params, { body, ...more });
}

function getBlob<Path extends PathOf<'get'>>(
  path: Path,
  params: Params<Path, 'get'>,
): Promise<Blob>;
async function getBlob(path: string, params: object): Promise<unknown> {
  return (await sendToApi('get', path, params, { parseAs: 'blob' })).value;
}

function put<Path extends PathOf<'put'>>(
  path: Path,
  params: Params<Path, 'put'>,
  ...change: Change<Path, 'put'>
): Promise<Answer<Path, 'put'>>;
async function put(path: string, params: object, body?: unknown, more?: object): Promise<unknown> {
  return (await sendToApi('put', path, params, { body, ...more })).value;
}

function post<Path extends PathOf<'post'>>(
  path: Path,
  params: Params<Path, 'post'>,
  ...change: Change<Path, 'post'>
): Promise<Answer<Path, 'post'>>;
async function post(path: string, params: object, body?: unknown, more?: object): Promise<unknown> {
  return (await sendToApi('post', path, params, { body, ...more })).value;
}

function remove<Path extends PathOf<'delete'>>(
  path: Path,
  params?: Params<Path, 'delete'>,
  more?: More<Path, 'delete'>,
): Promise<Answer<Path, 'delete'>>;
async function remove(path: string, params?: object, more?: object): Promise<unknown> {
  return (await sendToApi('delete', path, params, more)).value;
}

/** The management API. Its functions return the answer, and throw an ApiProblem for an error. */
export const api = { get, getTagged, getBlob, put, putTagged, post, delete: remove };

export interface Precondition {
  readonly headers: Record<string, string>;
}

/** Changes only what still has the ETag. */
export function ifMatch(tag: string | undefined): Precondition {
  return { headers: tag === undefined ? {} : { 'if-match': tag } };
}

/** Creates only what doesn't exist. */
export const ifNone: Precondition = { headers: { 'if-none-match': '*' } };
