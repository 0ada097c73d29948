import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { Icon } from '../components/icon.tsx';
import { text } from '../texts/text.ts';

/** Light or dark scheme; defaults to the system's. */
export function SchemeToggle() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const name = text(scheme === 'dark' ? 'layout.light' : 'layout.dark');
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={name}
      title={name}
      onClick={() => setColorScheme(scheme === 'dark' ? 'light' : 'dark')}
    >
      <Icon name={scheme === 'dark' ? 'sun' : 'moon'} />
    </ActionIcon>
  );
}
