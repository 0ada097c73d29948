import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { storeLastAccount } from '../account/last-account.ts';
import { useAccount } from '../account/use-me.ts';
import { Notices } from '../components/notices.tsx';
import { text } from '../texts/text.ts';
import { AccountSwitcher } from './account-switcher.tsx';
import { Brand } from './brand.tsx';
import { Navigation } from './navigation.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { PaletteButton } from './palette-button.tsx';
import { PersonMenu } from './person-menu.tsx';
import { SchemeToggle } from './scheme-toggle.tsx';

/** The layout around every page of an account. */
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

  const shown = account?.id;
  useEffect(() => {
    if (shown !== undefined) storeLastAccount(shown);
  }, [shown]);

  if (!isPending && account === undefined) return <NotFoundPage />;
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a href="#main" className="skip-link">
        {text('layout.skip')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" justify="space-between" wrap="nowrap">
          {/* A long name shrinks in favor of the controls at the other end. */}
          <Group gap="sm" wrap="nowrap" miw={0}>
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
          </Group>
          <Group gap={4} wrap="nowrap" flex="none">
            {account !== undefined && <PaletteButton />}
            <SchemeToggle />
            <PersonMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label={text('layout.pages')} p="xs">
        <Navigation />
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} className="main">
        <div className="page">{account !== undefined && <Outlet />}</div>
      </AppShell.Main>
      <Notices />
    </AppShell>
  );
}
