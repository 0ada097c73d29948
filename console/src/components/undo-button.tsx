import { Button } from '@mantine/core';
import { useAction } from '../api/use-action.ts';
import { text } from '../texts/text.ts';
import { showNotice } from './notices.tsx';
import { ProblemAlert } from './problem-alert.tsx';

interface UndoButtonProps {
  /** What is removed, as the notice names it. */
  name: string;
  action?: string;
  /** Resolves with what is to be told, where that is more than that it was removed. */
  remove: () => Promise<string | undefined>;
  /** Brings back what was removed, as far as the API can. */
  restore: () => Promise<unknown>;
  /** What is told then; that it was taken back, where nothing of it is lost. */
  restored?: string;
}

/** Removes at once what can be brought back, and offers to bring it back. */
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
        color="red"
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
