import { Button, Menu, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useAccount, useMe } from '../account/use-me.ts';
import { Icon } from '../parts/icon.tsx';
import { text } from '../texts/text.ts';

/** Says which account is being looked at and leads to the person's others. */
export function AccountSwitcher() {
  const { data: me } = useMe();
  const { account } = useAccount();
  const navigate = useNavigate();
  if (me === undefined || account === undefined) return null;
  if (me.accounts.length === 1)
    return (
      <Text size="sm" c="dimmed" truncate>
        {account.name}
      </Text>
    );
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button
          variant="default"
          size="compact-md"
          rightSection={<Icon name="down" size={14} />}
          aria-label={text('layout.account', { name: account.name })}
        >
          {account.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {me.accounts.map(({ id, name }) => (
          <Menu.Item
            key={id}
            rightSection={id === account.id ? <Icon name="check" size={14} /> : undefined}
            onClick={() => navigate({ to: '/$account', params: { account: id } })}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
