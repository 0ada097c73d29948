import { Button, Kbd } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { CatchBoundary } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { Icon } from '../components/icon.tsx';
import { lazyComponent } from '../components/lazy-component.ts';
import { showNotice } from '../components/notices.tsx';
import { text } from '../texts/text.ts';
import { usePaletteInput } from './use-palette-input.ts';
import { useShortcuts } from './use-shortcuts.ts';

const Palette = lazyComponent(() => import('./palette.tsx'), 'Palette');
const ShortcutsDialog = lazyComponent(() => import('./shortcuts-dialog.tsx'), 'ShortcutsDialog');

const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);

/** Opens the palette, like Ctrl+K and / anywhere; `?` lists the shortcuts. */
export function PaletteButton() {
  const [opened, palette] = useDisclosure();
  const [helping, help] = useDisclosure();
  const input = usePaletteInput(opened, palette.close);
  useShortcuts(help.open);

  function open() {
    if (opened) return;
    input.reset();
    // Retries if the script failed to load before.
    void Palette.preload?.();
    palette.open();
  }

  useHotkeys([
    ['mod+K', open],
    ['/', open],
  ]);
  return (
    <>
      <Button
        variant="default"
        className="palette-button"
        fw={400}
        c="dimmed"
        onClick={open}
        aria-keyshortcuts="Control+K Meta+K"
        leftSection={<Icon name="search" size={15} />}
        rightSection={
          <Kbd size="xs" visibleFrom="sm" aria-hidden="true">
            {isMac ? '⌘ K' : 'Ctrl K'}
          </Kbd>
        }
      >
        {text('palette.open')}
      </Button>
      {(opened || helping) && (
        <CatchBoundary
          getResetKey={() => 0}
          errorComponent={() => (
            <PaletteFailure
              close={() => {
                palette.close();
                help.close();
              }}
            />
          )}
        >
          <Suspense>
            {opened && (
              <Palette
                opened={opened}
                close={palette.close}
                input={input}
                showShortcuts={help.open}
              />
            )}
            {helping && (
              <ShortcutsDialog
                opened={helping}
                close={help.close}
                modifier={isMac ? '⌘' : 'Ctrl'}
              />
            )}
          </Suspense>
        </CatchBoundary>
      )}
    </>
  );
}

/** Reports that the palette couldn't be loaded and leaves the page as it is. */
function PaletteFailure({ close }: { close: () => void }) {
  useEffect(() => {
    showNotice(text('problem.network'));
    close();
  }, [close]);
  return null;
}
