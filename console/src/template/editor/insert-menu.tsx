import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { text } from '../../texts/text.ts';
import { type BlockName, blocks } from './blocks.ts';
import { FieldDialog, type FieldTag, type InsertText } from './field-dialog.tsx';
import { FieldItems, MenuGroup, menuPlace } from './field-menu.tsx';

interface InsertMenuProps {
  /** Undefined in plain text, which has no blocks. */
  insertBlock: ((name: BlockName) => void) | undefined;
  fields: readonly string[];
  insert: InsertText;
}

const blockNames = Object.keys(blocks) as BlockName[];

/** Inserts blocks, fields and sections into the source. */
export function InsertMenu({ insertBlock, fields, insert }: InsertMenuProps) {
  const [asked, ask] = useState<FieldTag>();
  return (
    <>
      {/* The source gets the focus, not the button. */}
      <Menu
        position="bottom-end"
        portalProps={menuPlace}
        returnFocus={false}
        shadow="md"
        width={240}
      >
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<Icon name="plus" size={14} />}
            rightSection={<Icon name="down" size={14} />}
          >
            {text('editor.insert')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={420} className="scrolls">
          {insertBlock !== undefined && (
            <>
              <MenuGroup label={text('editor.blocks')}>
                {blockNames.map((name) => (
                  <Menu.Item key={name} onClick={() => insertBlock(name)}>
                    {text(`editor.block.${name}`)}
                  </Menu.Item>
                ))}
              </MenuGroup>
              <Menu.Divider />
            </>
          )}
          <FieldItems fields={fields} insert={insert} ask={ask} />
        </Menu.Dropdown>
      </Menu>
      <FieldDialog tag={asked} close={() => ask(undefined)} fields={fields} insert={insert} />
    </>
  );
}
