import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { text } from '../texts/text.ts';
import { ConfirmByName } from './confirm-by-name.tsx';

interface RemoveButtonProps {
  title: string;
  consequence: string;
  name: string;
  action?: string;
  remove: () => Promise<unknown>;
}

/** A button that destroys something once its name was typed. */
export function RemoveButton({ title, consequence, name, action, remove }: RemoveButtonProps) {
  const [opened, dialog] = useDisclosure();
  const label = action ?? text('remove');
  return (
    <>
      <Button size="compact-sm" variant="subtle" color="red" onClick={dialog.open}>
        {label}
      </Button>
      <ConfirmByName
        opened={opened}
        close={dialog.close}
        title={title}
        consequence={consequence}
        name={name}
        action={label}
        confirm={remove}
      />
    </>
  );
}
