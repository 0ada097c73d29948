import { ActionIcon, Menu } from '@mantine/core';
import { useMe } from '../account/use-me.ts';
import { Icon } from '../components/icon.tsx';
import { text } from '../texts/text.ts';

/** The signed-in person, with links to their own page and sign-out. */
export function PersonMenu() {
  const { data: me } = useMe();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={text('layout.person', { name: me?.person?.name ?? '' })}
        >
          <Icon name="person" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{me?.person?.email}</Menu.Label>
        <Menu.Item component="a" href="/me">
          {text('layout.me')}
        </Menu.Item>
        <Menu.Item component="a" href="/docs">
          {text('layout.docs')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
