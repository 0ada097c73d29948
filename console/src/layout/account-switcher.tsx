import { Button, Menu, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useAccount, useMe } from '../account/use-me.ts';
import { Icon } from '../components/icon.tsx';
import { text } from '../texts/text.ts';

/** Shows the current account and switches to the person's other ones. */
export function AccountSwitcher() {
  const { data: me } = useMe();
  const { account } = useAccount();
  const navigate = useNavigate();
  if (me === undefined || account === undefined) return null;
  if (me.accounts.length === 1)
    return (
      <Text size="sm" c="dimmed" truncate title={account.name}>
        {account.name}
      </Text>
    );
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button
          variant="default"
          size="compact-md"
          miw={0}
          title={account.name}
          rightSection={<Icon name="down" size={14} />}
          aria-label={text('layout.account', { name: account.name })}
        >
          <Text span inherit truncate>
            {account.name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown maw="min(26rem, 90vw)" className="breakable">
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
