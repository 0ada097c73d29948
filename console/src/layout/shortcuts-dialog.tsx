import { Group, Kbd, Modal, SimpleGrid, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Note } from '../components/note.tsx';
import { text } from '../texts/text.ts';
import { useAreas } from './navigation.tsx';
import { pageLetters } from './use-shortcuts.ts';

interface ShortcutsDialogProps {
  opened: boolean;
  close: () => void;
  /** The key that browsers of this system use for commands. */
  modifier: string;
}

/** Lists the keyboard shortcuts, with those of the pages that the person can open. */
export function ShortcutsDialog({ opened, close, modifier }: ShortcutsDialogProps) {
  const letters = new Map(
    Object.entries(pageLetters).map(([letter, name]) => [name as string, letter]),
  );
  const pages = useAreas().flatMap(({ pages }) => pages.filter(({ name }) => letters.has(name)));
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={text('shortcuts.title')}
      closeOnClickOutside
      size="lg"
      transitionProps={{ duration: 80 }}
    >
      <Section title={text('shortcuts.general')}>
        <Shortcut name={text('shortcuts.palette')} keys={[modifier, 'K']} or="/" />
        <Shortcut name={text('shortcuts.help')} keys={['?']} />
        <Shortcut name={text('shortcuts.close')} keys={['Esc']} />
      </Section>
      <Section title={text('layout.pages')}>
        {pages.map(({ name }) => (
          <Shortcut
            key={name}
            name={text(`nav.${name}`)}
            keys={['G', letters.get(name)?.toUpperCase() ?? '']}
          />
        ))}
      </Section>
    </Modal>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={3}>{title}</Title>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={40} verticalSpacing={6} mb="md" mt={6}>
        {children}
      </SimpleGrid>
    </section>
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
            <Note span>{text('shortcuts.or')}</Note>
            <Kbd size="sm">{or}</Kbd>
          </>
        )}
      </Group>
    </Group>
  );
}
