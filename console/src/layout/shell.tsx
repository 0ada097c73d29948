import { Burger } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useLocation, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { storeLastAccount } from '../account/last-account.ts';
import { useAccount } from '../account/use-me.ts';
import { Notices } from '../components/notices.tsx';
import { ConfirmationHost } from '../confirmation/confirmation-host.tsx';
import { hasUnsavedChanges } from '../form/unsaved.ts';
import { text } from '../texts/text.ts';
import { AccountSwitcher } from './account-switcher.tsx';
import { Brand } from './brand.tsx';
import { Navigation } from './navigation.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { PaletteButton } from './palette-button.tsx';
import { PersonBar } from './person-bar.tsx';

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
        <div className="page">{account !== undefined && <Outlet />}</div>
      </main>
      <Notices />
      <ConfirmationHost />
    </div>
  );
}
