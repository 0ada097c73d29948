import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { Icon } from '../components/icon.tsx';
import { text } from '../texts/text.ts';

/** Switches between the light and the dark scheme; the first one is the system's. */
export function useSchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  return {
    name: text(isDark ? 'layout.light' : 'layout.dark'),
    icon: isDark ? 'sun' : 'moon',
    go: () => setColorScheme(isDark ? 'light' : 'dark'),
  } as const;
}

export function SchemeToggle() {
  const { name, icon, go } = useSchemeSwitch();
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={name} title={name} onClick={go}>
      <Icon name={icon} />
    </ActionIcon>
  );
}
