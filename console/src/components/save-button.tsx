import { Button } from '@mantine/core';

interface SaveButtonProps {
  children: string;
  /** Whether there is something to save. */
  changed: boolean;
  saving: boolean;
  disabled?: boolean;
}

/** Sends an inline form; prominent once something changed. */
export function SaveButton({ children, changed, saving, disabled = false }: SaveButtonProps) {
  return (
    <Button
      type="submit"
      variant={changed ? 'filled' : 'default'}
      loading={saving}
      disabled={disabled}
    >
      {children}
    </Button>
  );
}
