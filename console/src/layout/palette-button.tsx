import { Button, Kbd } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { Icon } from '../parts/icon.tsx';
import { text } from '../texts/text.ts';

const Palette = lazy(() => import('./palette.tsx').then((module) => ({ default: module.Palette })));

const mac = /mac|iphone|ipad/i.test(navigator.userAgent);

/** Opens the palette, as Ctrl+K and / do from everywhere. */
export function PaletteButton() {
  const [opened, palette] = useDisclosure();
  useHotkeys([
    ['mod+K', palette.open],
    ['/', palette.open],
  ]);
  return (
    <>
      <Button
        variant="default"
        size="compact-md"
        fw={400}
        c="dimmed"
        onClick={palette.open}
        aria-keyshortcuts="Control+K Meta+K"
        leftSection={<Icon name="search" size={15} />}
        rightSection={
          <Kbd size="xs" visibleFrom="sm" aria-hidden="true">
            {mac ? '⌘ K' : 'Ctrl K'}
          </Kbd>
        }
      >
        {text('palette.open')}
      </Button>
      {opened && (
        <Suspense>
          <Palette opened={opened} close={palette.close} />
        </Suspense>
      )}
    </>
  );
}
