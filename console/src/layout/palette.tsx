import { Combobox, Group, Kbd, Modal, TextInput, useCombobox } from '@mantine/core';
import { useEffect } from 'react';
import { Icon } from '../components/icon.tsx';
import { Note } from '../components/note.tsx';
import { text } from '../texts/text.ts';
import { usePaletteItems } from './palette-items.ts';
import type { PaletteInput } from './use-palette-input.ts';

interface PaletteProps {
  opened: boolean;
  close: () => void;
  input: PaletteInput;
  showShortcuts: () => void;
}

/** The field says what it is for, so the dialog shows no title. */
const dialogLabel = { content: { 'aria-label': text('palette.title') } };

/** Command palette: pages, actions, and what the account has by name, ID, address and subject. */
export function Palette({ opened, close, ...items }: PaletteProps) {
  return (
    <Modal
      opened={opened}
      onClose={close}
      withCloseButton={false}
      attributes={dialogLabel}
      yOffset="12vh"
      padding="sm"
      closeOnClickOutside
      transitionProps={{ duration: 80 }}
    >
      <PaletteItems close={close} {...items} />
    </Modal>
  );
}

function PaletteItems({ close, input, showShortcuts }: Omit<PaletteProps, 'opened'>) {
  const { typed, entered } = input;
  const { groups, settled } = usePaletteItems(typed.trim(), showShortcuts);
  const combobox = useCombobox({ opened: true });
  const items = groups.flatMap((group) => group.items);
  const first = settled ? items[0] : undefined;

  useEffect(() => {
    if (!entered || first === undefined) return;
    close();
    first.go();
  });

  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(value) => {
        close();
        items.find(({ key }) => key === value)?.go();
      }}
    >
      <Combobox.EventsTarget withExpandedAttribute>
        <TextInput
          role="combobox"
          aria-label={text('palette.title')}
          placeholder={text('palette.hint')}
          leftSection={<Icon name="search" size={16} />}
          value={typed}
          onChange={(event) => {
            input.change(event.currentTarget.value);
            combobox.updateSelectedOptionIndex('active');
          }}
          onKeyDown={(event) => {
            // The list would take it for its own.
            if (event.key === 'Escape' && !event.nativeEvent.isComposing) close();
            // Enter selects the first result if none is chosen, once results are loaded.
            if (event.key === 'Enter' && combobox.getSelectedOptionIndex() === -1) input.enter();
          }}
          onFocus={({ currentTarget }) => {
            input.onFocus();
            // Puts the cursor after the text typed so far.
            currentTarget.setSelectionRange(typed.length, typed.length);
          }}
          data-autofocus
        />
      </Combobox.EventsTarget>
      <Combobox.Options mt="xs" aria-label={text('palette.title')} className="palette-items">
        {items.length === 0 && (
          <Combobox.Empty>{text(settled ? 'palette.none' : 'palette.searching')}</Combobox.Empty>
        )}
        {groups.map(({ title, items: own }) => (
          <Combobox.Group key={title} label={title}>
            {own.map(({ key, name, icon, detail, shortcut }) => (
              <Combobox.Option
                key={key}
                value={key}
                className="goal"
                // Enter chooses it while no other is selected, once all results are there.
                data-first={key === items[0]?.key || undefined}
              >
                <Icon name={icon} size={16} />
                <span className="goal-name">{name}</span>
                {detail !== undefined && (
                  <Note span className="goal-detail">
                    {detail}
                  </Note>
                )}
                {shortcut !== undefined && (
                  <Group gap={4} ml="auto" wrap="nowrap" visibleFrom="sm" aria-hidden="true">
                    {shortcut.map((letter) => (
                      <Kbd key={letter} size="xs">
                        {letter}
                      </Kbd>
                    ))}
                  </Group>
                )}
              </Combobox.Option>
            ))}
          </Combobox.Group>
        ))}
      </Combobox.Options>
      <Group gap="md" pt="xs" aria-hidden="true" visibleFrom="sm">
        {(['↑↓', '↵', 'Esc'] as const).map((key) => (
          <Note key={key}>
            <Kbd size="xs">{key}</Kbd> {text(`palette.key.${key}`)}
          </Note>
        ))}
      </Group>
    </Combobox>
  );
}
