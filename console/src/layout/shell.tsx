import { ActionIcon, Burger } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { storeLastAccount } from '../account/last-account.ts';
import { useAccount, useMe } from '../account/use-me.ts';
import { signOut } from '../api/sign-in.ts';
import { useAction } from '../api/use-action.ts';
import { Icon } from '../components/icon.tsx';
import { Notices, showNotice } from '../components/notices.tsx';
import { ConfirmationHost } from '../confirmation/confirmation-host.tsx';
import { hasUnsavedChanges } from '../form/unsaved.ts';
import { text } from '../texts/text.ts';
import { Brand } from './brand.tsx';
import { AreaTabs, Navigation } from './navigation.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { PaletteButton } from './palette-button.tsx';
import { SchemeToggle } from './scheme-toggle.tsx';

/** The layout around every page of an account: a bar at the side, which is at the top on phones. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { account, isPending } = useAccount();
  const path = useLocation({ select: (location) => location.pathname });
  const main = useRef<HTMLElement>(null);
  const seen = useRef(path);

  useEffect(() => {
    close();
    // Moves focus to the new page for keyboard and screen reader users.
    if (seen.current !== path) main.current?.focus({ preventScroll: true });
    seen.current = path;
  }, [path, close]);

  const { history } = useRouter();
  useEffect(
    () =>
      history.block({
        blockerFn: ({ currentLocation, nextLocation }) =>
          currentLocation.pathname !== nextLocation.pathname &&
          hasUnsavedChanges() &&
          !confirm(text('layout.unsaved')),
        enableBeforeUnload: hasUnsavedChanges,
      }),
    [history],
  );

  const shown = account?.id;
  useEffect(() => {
    if (shown !== undefined) storeLastAccount(shown);
  }, [shown]);

  if (!isPending && account === undefined) return <NotFoundPage />;
  return (
    <div className="shell">
      <a href="#main" className="skip-link">
        {text('layout.skip')}
      </a>
      <div className="side" data-opened={opened}>
        <header className="side-head">
          <Burger
            opened={opened}
            onClick={toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={text(opened ? 'layout.closeMenu' : 'layout.openMenu')}
            aria-expanded={opened}
          />
          <Brand />
          <AccountSwitcher />
          {account !== undefined && <PaletteButton />}
        </header>
        <nav className="side-menu" aria-label={text('layout.pages')}>
          <Navigation />
        </nav>
        <PersonBar />
      </div>
      <main id="main" ref={main} tabIndex={-1} className="main">
        <div className="page">
          {account !== undefined && (
            <>
              <AreaTabs />
              <Outlet />
            </>
          )}
        </div>
      </main>
      <Notices />
      <ConfirmationHost />
    </div>
  );
}

/** Shows the current account and switches to the person's other ones. */
function AccountSwitcher() {
  const { data: me } = useMe();
  const { account } = useAccount();
  const navigate = useNavigate();
  if (me === undefined || account === undefined) return null;
  if (me.accounts.length === 1)
    return (
      <span className="account-name" title={account.name}>
        {account.name}
      </span>
    );
  return (
    <span className="account-switcher">
      <select
        aria-label={text('layout.account')}
        title={account.name}
        value={account.id}
        onChange={(event) =>
          navigate({ to: '/$account', params: { account: event.currentTarget.value } })
        }
      >
        {me.accounts.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </span>
  );
}

/** The signed-in person with their own page, the color scheme, and sign-out. */
function PersonBar() {
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
