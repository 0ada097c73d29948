import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import type { Answer, PathOf } from './management.ts';
import { type AnyGiven, type GetArguments, usePath } from './use-get.ts';

/** A page of a list, as returned by the API. */
interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

type ListPath = {
  [Path in PathOf<'get'>]: Answer<Path, 'get'> extends Page<unknown> ? Path : never;
}[PathOf<'get'>];

type ItemOf<Path extends ListPath> = Answer<Path, 'get'> extends Page<infer Item> ? Item : never;

interface PagesOptions {
  /** Refresh interval in milliseconds. */
  readonly refetchInterval?: number | false;
  readonly enabled?: boolean;
}

export type LoadedPages<Item> = UseInfiniteQueryResult<InfiniteData<Page<Item>>> & {
  readonly items: readonly Item[];
};

/** A list that loads page by page on demand. */
export function usePages<Path extends ListPath>(
  path: Path,
  ...options: GetArguments<Path, PagesOptions>
): LoadedPages<ItemOf<Path>>;
export function usePages(
  path: ListPath,
  options: PagesOptions & AnyGiven = {},
): LoadedPages<unknown> {
  const { queryKey, readPage } = useListPath(path, options);
  const pages = useInfiniteQuery({
    ...options,
    queryKey: [...queryKey, { list: 'pages' }],
    queryFn: ({ pageParam }) => readPage(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  return { ...pages, items: pages.data?.pages.flatMap((page) => [...page.items]) ?? [] };
}

/** All items of a list, for a choice among them. */
export function useAll<Path extends ListPath>(
  path: Path,
  ...options: GetArguments<Path, object>
): UseQueryResult<ItemOf<Path>[]>;
export function useAll(path: ListPath, options: AnyGiven = {}) {
  const { queryKey, readPage } = useListPath(path, options);
  return useQuery({
    queryKey: [...queryKey, { list: 'all' }],
    async queryFn() {
      const items: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await readPage(cursor);
        items.push(...page.items);
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      return items;
    },
  });
}

function useListPath(path: ListPath, given: AnyGiven) {
  const { queryKey, read } = usePath(path, given);
  const readPage = (cursor: string | undefined) => read({ cursor }) as Promise<Page<unknown>>;
  return { queryKey, readPage };
}
