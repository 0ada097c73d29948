import { Skeleton, Stack } from '@mantine/core';

const placeholders = ['a', 'b', 'c', 'd', 'e', 'f'];

/** A placeholder while a table loads. */
export function RowsSkeleton() {
  return (
    <Stack gap="xs" aria-hidden="true">
      {placeholders.map((name) => (
        <Skeleton key={name} height={36} />
      ))}
    </Stack>
  );
}
