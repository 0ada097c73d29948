import { ActionIcon, Menu } from '@mantine/core';
import { text } from '../texts/text.ts';
import { Icon } from './icon.tsx';

export interface RowMenuItem {
  readonly label: string;
  readonly color?: 'red';
  readonly choose: () => void;
}

/** The actions of a row that don't fit next to the first ones. */
export function RowMenu({ name, items }: { name: string; items: readonly RowMenuItem[] }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          c="bright"
          aria-label={text('actionsFor', { name })}
        >
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ label, color, choose }) => (
          <Menu.Item key={label} color={color} onClick={choose}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
