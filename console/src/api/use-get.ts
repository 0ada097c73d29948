import { type UseQueryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type Answer, type Params, type PathOf, type Query, sendToApi } from './management.ts';

/** The values in a path; the account is that of the page unless it is given. */
type GivenParams<Path> = Omit<Params<Path, 'get'>, 'accountId'> & { readonly accountId?: string };

interface Given<Path> {
  readonly query?: Query<Path, 'get'> | (() => Query<Path, 'get'>);
  /** It is read again when this changes. A query that depends on the time is a function, and has its other parts here. */
  readonly revision?: unknown;
}

/** The options of a hook that reads a path, with the values in it if there are others than the account. */
export type GetArguments<Path, Options> =
  Record<never, never> extends GivenParams<Path>
    ? [options?: Options & Given<Path> & { readonly params?: GivenParams<Path> }]
    : [options: Options & Given<Path> & { readonly params: GivenParams<Path> }];

/** What the hooks take for any path. */
export interface AnyGiven {
  readonly params?: object;
  readonly query?: object | (() => object);
  readonly revision?: unknown;
}

/**
 * The key of what is read at a path: the parts of the path, with values instead of their names. It is the beginning of the keys
 * of all that is below the path.
 */
export function keyOf<Path extends PathOf<'get'>>(
  path: Path,
  params?: Params<Path, 'get'>,
): readonly unknown[];
export function keyOf(path: string, params: object = {}): readonly unknown[] {
  const values = new Map(Object.entries(params));
  const parts = path.slice(1).split('/');
  return parts.map((part) => (part.startsWith('{') ? values.get(part.slice(1, -1)) : part));
}

/** What reads a path, for `useQuery` and `fetchQuery`. */
export function getQuery<Path extends PathOf<'get'>>(
  path: Path,
  params?: Params<Path, 'get'>,
  query?: Query<Path, 'get'>,
): { queryKey: readonly unknown[]; queryFn: () => Promise<Answer<Path, 'get'>> };
export function getQuery(path: PathOf<'get'>, params?: object, query?: object) {
  return {
    queryKey: [...keyOf(path, params), ...(query === undefined ? [] : [query])],
    queryFn: async () => (await sendToApi('get', path, params, { query })).value,
  };
}

/** The key and the reader of a path, with the account of the page. The reader can be given more of the query. */
export function usePath(path: PathOf<'get'>, { params, query, revision }: AnyGiven) {
  const { account: accountId } = useParams({ strict: false });
  const all = { accountId, ...params };
  const rest = [typeof query === 'function' ? undefined : query, revision];
  return {
    queryKey: [...keyOf(path, all), ...rest.filter((part) => part !== undefined)],
    async read(more?: object): Promise<unknown> {
      const now = typeof query === 'function' ? query() : query;
      return (await sendToApi('get', path, all, { query: { ...now, ...more } })).value;
    },
  };
}

/** Reads a path, and again once it is refreshed (`useRefresh`). */
export function useGet<Path extends PathOf<'get'>>(
  path: Path,
  ...options: GetArguments<Path, GetOptions<Answer<Path, 'get'>>>
): UseQueryResult<Answer<Path, 'get'>>;
export function useGet(path: PathOf<'get'>, options: GetOptions<unknown> & AnyGiven = {}) {
  const { queryKey, read } = usePath(path, options);
  return useQuery({ ...options, queryKey, queryFn: () => read() });
}

type GetOptions<Data> = Omit<UseQueryOptions<Data>, 'queryKey' | 'queryFn'>;
