import { CloseButton, Group, Paper, Text, UnstyledButton } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { text } from '../texts/text.ts';

interface Notice {
  readonly id: number;
  readonly message: string;
  /** Undoes the action. */
  readonly undo?: () => Promise<unknown>;
  /** Shown once it is undone. */
  readonly undone: string;
}

/** How long a notice stays, in milliseconds; longer if it offers undo. */
const displayMs = { plain: 6_000, undo: 12_000 };

let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

function dismiss(id: number): void {
  change(notices.filter((notice) => notice.id !== id));
}

/** Shows notices across page changes, optionally with undo. */
export function showNotice(
  message: string,
  undo?: () => Promise<unknown>,
  undone = text('undo.done'),
): void {
  last += 1;
  const id = last;
  // Shows only the three newest, and the same message once.
  const others = notices.filter(
    (notice) => notice.undo !== undefined || notice.message !== message,
  );
  change([...others.slice(-2), { id, message, undone, ...(undo !== undefined && { undo }) }]);
  setTimeout(() => dismiss(id), undo === undefined ? displayMs.plain : displayMs.undo);
}

async function undoNotice({ id, undo, undone }: Notice): Promise<void> {
  dismiss(id);
  try {
    await undo?.();
    showNotice(undone);
  } catch {
    showNotice(text('undo.failed'));
  }
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The current notices, announced to screen readers. */
export function Notices() {
  const shown = useSyncExternalStore(listen, () => notices);
  return (
    <section className="notices" aria-label={text('notices')} aria-live="polite">
      {shown.map((notice) => (
        <Paper key={notice.id} className="notice" shadow="md" p="sm">
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm" className="breakable">
              {notice.message}
            </Text>
            <Group gap="xs" wrap="nowrap">
              {notice.undo !== undefined && (
                <UnstyledButton className="undo" onClick={() => undoNotice(notice)}>
                  {text('undo')}
                </UnstyledButton>
              )}
              <CloseButton
                size="sm"
                aria-label={text('close')}
                onClick={() => dismiss(notice.id)}
              />
            </Group>
          </Group>
        </Paper>
      ))}
    </section>
  );
}
