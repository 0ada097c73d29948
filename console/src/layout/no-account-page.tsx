import { Center } from '@mantine/core';
import { EmptyState } from '../parts/empty-state.tsx';
import { text } from '../texts/text.ts';

/** For people who belong to no account. */
export function NoAccountPage() {
  return (
    <Center component="main" mih="100vh" p="md">
      <EmptyState title={text('noAccount.title')} hint={text('noAccount.hint')} />
    </Center>
  );
}
