import { Button, Center, Loader, Stack, Text, Title } from '@mantine/core';
import { Navigate } from '@tanstack/react-router';
import { Suspense, useEffect, useSyncExternalStore } from 'react';
import { readLastAccount } from '../account/last-account.ts';
import { useMe } from '../account/use-me.ts';
import { ApiProblem } from '../api/problem.ts';
import { goToSignIn, signOut } from '../api/sign-in.ts';
import { useAction } from '../api/use-action.ts';
import { useGet } from '../api/use-get.ts';
import { lazyComponent } from '../components/lazy-component.ts';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { text } from '../texts/text.ts';
import { Gate } from './gate.tsx';

/** The set-up link carries its code in the fragment, which is never sent to a server. */
const setUpCode = /^#set-up=([\w-]+)$/;

const SetUpPage = lazyComponent(() => import('./set-up-page.tsx'), 'SetUpPage');

/** Follows a link that is opened in this tab, which only changes the fragment. */
function onFragmentChange(change: () => void) {
  addEventListener('hashchange', change);
  return () => removeEventListener('hashchange', change);
}

/** The start page: redirects to the account, the sign-in page or the set-up. */
export function StartPage() {
  const me = useMe();
  const fragment = useSyncExternalStore(onFragmentChange, () => location.hash);
  const code = setUpCode.exec(fragment)?.[1];
  const signedOut = me.error instanceof ApiProblem && me.error.status === 401;
  const setUp = useGet('/set-up', { enabled: signedOut || code !== undefined });
  const closed = signedOut && setUp.data?.open === false;
  useEffect(() => {
    if (closed) goToSignIn(code === undefined ? {} : { failed: 'set-up-done' });
  }, [closed, code]);

  const open = setUp.data?.open === true;
  if (open && (signedOut || code !== undefined))
    return (
      <Suspense>
        <SetUpPage code={code} demo={setUp.data?.demo === true} />
      </Suspense>
    );
  if (me.data !== undefined && !setUp.isLoading) {
    const last = readLastAccount();
    const account = me.data.accounts.find(({ id }) => id === last) ?? me.data.accounts[0];
    if (account === undefined) return <NoAccountPage />;
    return <Navigate to="/$account" params={{ account: account.id }} replace />;
  }
  const error = setUp.error ?? (signedOut ? null : me.error);
  return (
    <Center component="main" mih="100vh" p="md">
      {error === null ? <Loader /> : <ProblemAlert error={error} retry={() => me.refetch()} />}
    </Center>
  );
}

/** For people who belong to no account. */
function NoAccountPage() {
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
