import { Button } from '@mantine/core';
import { text } from '../texts/text.ts';

interface SaveButtonProps {
  /** Whether there is something to save. */
  changed: boolean;
  saving: boolean;
}

/** Sends an inline form; enabled once something changed. */
export function SaveButton({ changed, saving }: SaveButtonProps) {
  return (
    <Button type="submit" loading={saving} disabled={!changed}>
      {text('save')}
    </Button>
  );
}
