import { Group, Kbd, Modal, Stack, Text, Title } from '@mantine/core';
import { type TextKey, text } from '../texts/text.ts';
import { useSections } from './navigation.tsx';
import { pageLetters } from './use-shortcuts.ts';

interface ShortcutsDialogProps {
  opened: boolean;
  close: () => void;
  /** The key that browsers of this system use for commands. */
  modifier: string;
}

/** Lists the keyboard shortcuts, with those of the pages that the person can open. */
export function ShortcutsDialog({ opened, close, modifier }: ShortcutsDialogProps) {
  const visible = new Set(
    useSections().flatMap(({ entries }) => entries.map(({ name }) => name as string)),
  );
  const pages = Object.entries(pageLetters).filter(([, name]) => visible.has(name));
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={text('shortcuts.title')}
      closeOnClickOutside
      transitionProps={{ duration: 80 }}
    >
      <Stack gap={6}>
        <Shortcut name={text('shortcuts.palette')} keys={[modifier, 'K']} or="/" />
        <Shortcut name={text('shortcuts.help')} keys={['?']} />
        <Shortcut name={text('shortcuts.close')} keys={['Esc']} />
        <Title order={3} mt="sm">
          {text('shortcuts.pages')}
        </Title>
        {pages.map(([letter, name]) => (
          <Shortcut
            key={letter}
            name={text(`nav.${name}` as TextKey)}
            keys={['G', letter.toUpperCase()]}
          />
        ))}
      </Stack>
    </Modal>
  );
}

interface ShortcutProps {
  name: string;
  /** Pressed together or in turn. */
  keys: readonly string[];
  /** Another key that does the same. */
  or?: string;
}

function Shortcut({ name, keys, or }: ShortcutProps) {
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm">{name}</Text>
      <Group gap={4} wrap="nowrap">
        {keys.map((key) => (
          <Kbd key={key} size="sm">
            {key}
          </Kbd>
        ))}
        {or !== undefined && (
          <>
            <Text span size="xs" c="dimmed">
              {text('shortcuts.or')}
            </Text>
            <Kbd size="sm">{or}</Kbd>
          </>
        )}
      </Group>
    </Group>
  );
}
