import { ActionIcon, Menu } from '@mantine/core';
import { text } from '../texts/text.ts';
import { Icon } from './icon.tsx';

export interface RowMenuItem {
  readonly label: string;
  readonly color?: 'red';
  /** What it does, or the file that it downloads. */
  readonly choose: (() => void) | string;
}

interface RowMenuProps {
  name: string;
  items: readonly RowMenuItem[];
  /** Next to the buttons of a page instead of in a row. */
  onPage?: boolean;
}

/** The actions of a row or a page that don't fit next to the first ones. */
export function RowMenu({ name, items, onPage = false }: RowMenuProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          {...(onPage
            ? { variant: 'default', size: 36 }
            : { variant: 'subtle', color: 'gray', c: 'bright' })}
          aria-label={text('actionsFor', { name })}
        >
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ label, color, choose }) =>
          typeof choose === 'string' ? (
            <Menu.Item key={label} component="a" href={choose} download>
              {label}
            </Menu.Item>
          ) : (
            <Menu.Item key={label} color={color} onClick={choose}>
              {label}
            </Menu.Item>
          ),
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
