import { Button, Stack, Text, Title } from '@mantine/core';
import { useMe } from '../account/use-me.ts';
import { signOut } from '../api/sign-in.ts';
import { useAction } from '../api/use-action.ts';
import { text } from '../texts/text.ts';
import { Gate } from './gate.tsx';

/** For people who belong to no account. */
export function NoAccountPage() {
  const person = useMe().data?.person;
  const leave = useAction({ mutationFn: signOut });
  return (
    <Gate>
      <Stack gap="xs" ta="center">
        <Title order={1}>{text('noAccount.title')}</Title>
        <Text c="dimmed">{text('noAccount.hint')}</Text>
        {person != null && (
          <Text size="sm" className="breakable">
            {text('noAccount.signedIn', { email: person.email })}
          </Text>
        )}
        <div>
          <Button variant="default" loading={leave.isPending} onClick={() => leave.mutate()}>
            {text('layout.signOut')}
          </Button>
        </div>
      </Stack>
    </Gate>
  );
}
