import { Button } from '@mantine/core';
import { useAction } from '../api/use-action.ts';
import { text } from '../texts/text.ts';
import { tell } from './notices.tsx';
import { ProblemAlert } from './problem-alert.tsx';

interface UndoButtonProps {
  /** What is removed, as the notice names it. */
  name: string;
  action?: string;
  remove: () => Promise<unknown>;
  /** Brings back exactly what was removed. */
  restore: () => Promise<unknown>;
}

/** Removes at once what can be brought back, and offers to bring it back. */
export function UndoButton({ name, action, remove, restore }: UndoButtonProps) {
  const removal = useAction({
    mutationFn: remove,
    onSuccess: () => tell(text('undo.removed', { name }), restore),
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
      <ProblemAlert error={removal.error} renewed={removal.reset} />
    </>
  );
}
