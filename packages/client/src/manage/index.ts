import type { paths } from '../api.generated.ts';
import { type CallOptions, Connection, type ConnectionOptions } from '../connection.ts';

export type * from '../api.generated.ts';

type Method = 'get' | 'put' | 'post' | 'delete';

/** Paths that have an operation with this method. */
type PathsWith<Verb extends Method> = {
  [Path in keyof paths]: Verb extends keyof paths[Path] ? Path : never;
}[keyof paths];

type Operation<Verb extends Method, Path extends PathsWith<Verb>> = paths[Path][Verb &
  keyof paths[Path]];

type Parameters<Op> = Op extends { readonly parameters: infer Found } ? Found : never;
type Optional<Name extends string, Value> =
  Record<never, never> extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value };
type PathOf<Op> =
  Parameters<Op> extends { readonly path: infer Path } ? { readonly path: Path } : unknown;
type QueryOf<Op> =
  Parameters<Op> extends { readonly query?: infer Query }
    ? Optional<'query', NonNullable<Query>>
    : unknown;
type BodyOf<Op> = Op extends { readonly requestBody: { readonly content: infer Content } }
  ? { readonly body: Content[keyof Content] }
  : Op extends { readonly requestBody?: { readonly content: infer Content } }
    ? { readonly body?: Content[keyof Content] }
    : unknown;

/** The input of an operation: `path`, `query` and `body`, as far as it has them. */
export type RequestOf<Verb extends Method, Path extends PathsWith<Verb>> = PathOf<
  Operation<Verb, Path>
> &
  QueryOf<Operation<Verb, Path>> &
  BodyOf<Operation<Verb, Path>> & {
    /** The ETag that you read: 412 if the resource has changed since. */
    readonly ifMatch?: string;
    /** `*` only creates: 412 if the resource exists. */
    readonly ifNoneMatch?: '*';
  };

type Content<Response> = Response extends { readonly content: infer Found }
  ? Found[keyof Found]
  : undefined;
/** The response body of an operation; undefined if it has none. */
export type AnswerOf<Verb extends Method, Path extends PathsWith<Verb>> =
  Operation<Verb, Path> extends { readonly responses: infer Responses }
    ? {
        [Status in keyof Responses & (200 | 201 | 202 | 204)]: Content<Responses[Status]>;
      }[keyof Responses & (200 | 201 | 202 | 204)]
    : never;

type Call<Verb extends Method> = <Path extends PathsWith<Verb>>(
  path: Path,
  ...request: Record<never, never> extends RequestOf<Verb, Path>
    ? [request?: RequestOf<Verb, Path>, options?: CallOptions]
    : [request: RequestOf<Verb, Path>, options?: CallOptions]
) => Promise<AnswerOf<Verb, Path>>;

/** Every operation of the service, typed by its OpenAPI document. @throws SignalpostFailure */
export interface Management {
  readonly get: Call<'get'>;
  readonly put: Call<'put'>;
  readonly post: Call<'post'>;
  readonly delete: Call<'delete'>;
}

/** @param options `key`: an API key with the scopes of the operations */
export function createManagement(
  options: ConnectionOptions & { readonly key: string },
): Management {
  const connection = new Connection(options, {
    renewable: false,
    token: async () => options.key,
  });
  const call =
    (method: 'GET' | 'PUT' | 'POST' | 'DELETE') =>
    async (path: string, request: AnyRequest = {}, callOptions: CallOptions = {}) =>
      await connection.call(
        {
          method,
          path: fill(path, request),
          body: request.body,
          headers: {
            ...(request.ifMatch === undefined ? {} : { 'if-match': request.ifMatch }),
            ...(request.ifNoneMatch === undefined ? {} : { 'if-none-match': request.ifNoneMatch }),
          },
        },
        callOptions,
      );
  return {
    get: call('GET'),
    put: call('PUT'),
    post: call('POST'),
    delete: call('DELETE'),
  } as unknown as Management;
}

interface AnyRequest {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
}

function fill(path: string, { path: parts = {}, query = {} }: AnyRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(parts[name])),
  );
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) parameters.append(name, String(one));
  return parameters.size === 0 ? filled : `${filled}?${parameters}`;
}
