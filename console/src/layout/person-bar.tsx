import { ActionIcon } from '@mantine/core';
import { useMe } from '../account/use-me.ts';
import { signOut } from '../api/sign-in.ts';
import { useAction } from '../api/use-action.ts';
import { Icon } from '../components/icon.tsx';
import { showNotice } from '../components/notices.tsx';
import { text } from '../texts/text.ts';
import { SchemeToggle } from './scheme-toggle.tsx';

/** The signed-in person with their own page, the color scheme, and sign-out. */
export function PersonBar() {
  const { data: me } = useMe();
  const leave = useAction({
    mutationFn: signOut,
    onError: () => showNotice(text('layout.signOutFailed')),
  });
  const person = me?.person;
  return (
    <footer className="person-bar">
      <a href="/me" className="person">
        <span className="person-name">{person?.name}</span>
        <span className="person-email">{person?.email}</span>
        <span className="visually-hidden">{text('layout.person')}</span>
      </a>
      <SchemeToggle />
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={text('layout.signOut')}
        title={text('layout.signOut')}
        loading={leave.isPending}
        onClick={() => leave.mutate()}
      >
        <Icon name="leave" />
      </ActionIcon>
    </footer>
  );
}
