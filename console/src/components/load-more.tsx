import { Button, Center } from '@mantine/core';
import { text } from '../texts/text.ts';

export interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
}

/** Loads the next page of a list; hidden on the last one. */
export function LoadMore({ pages }: { pages: Partial<Pages> }) {
  if (!pages.hasNextPage) return null;
  return (
    <Center mt="md">
      <Button
        variant="default"
        loading={pages.isFetchingNextPage ?? false}
        onClick={() => pages.fetchNextPage?.()}
      >
        {text('list.more')}
      </Button>
    </Center>
  );
}
