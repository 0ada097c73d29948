import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';

/** A page of a list, as returned by the API. */
interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

interface PagesOptions<Item> {
  readonly queryKey: readonly unknown[];
  /** Refresh interval in milliseconds. */
  readonly refetchInterval?: number | false;
  readonly enabled?: boolean;
  read(cursor: string | undefined): Promise<Page<Item>>;
}

/** A list that loads page by page on demand. */
export function usePages<Item>({ read, ...options }: PagesOptions<Item>) {
  const pages = useInfiniteQuery({
    ...options,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  return { ...pages, items: pages.data?.pages.flatMap((page) => [...page.items]) ?? [] };
}

/** All items of a list, for a choice among them. */
export async function readAll<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return items;
}
