import { Button } from '@mantine/core';
import { useAction } from '../api/use-action.ts';
import { text } from '../texts/text.ts';
import { showNotice } from './notices.tsx';
import { ProblemAlert } from './problem-alert.tsx';

interface UndoButtonProps {
  /** The removed item, as named in the notice. */
  name: string;
  action?: string;
  /** Resolves with a notice, if it should say more than that the item was removed. */
  remove: () => Promise<string | undefined>;
  /** Restores what was removed, as far as the API can. */
  restore: () => Promise<unknown>;
  /** The notice after undo, if not everything is restored. */
  restored?: string;
}

/** Removes something restorable immediately and offers to undo it. */
export function UndoButton({ name, action, remove, restore, restored }: UndoButtonProps) {
  const removal = useAction({
    mutationFn: remove,
    onSuccess: (message) =>
      showNotice(message ?? text('undo.removed', { name }), restore, restored),
  });
  return (
    <>
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        c="dimmed"
        loading={removal.isPending}
        onClick={() => removal.mutate()}
        aria-label={text('removeName', { name })}
      >
        {action ?? text('remove')}
      </Button>
      <ProblemAlert error={removal.error} onRefreshed={removal.reset} />
    </>
  );
}
