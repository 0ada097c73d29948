import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMay } from '../account/use-me.ts';
import { type RequestedDialog, useRequestedDialog } from '../layout/requested-dialog.ts';
import { Icon } from './icon.tsx';

/**
 * The button of a page that opens the dialog for something new, and what that dialog takes. The palette can ask for the dialog.
 * There is no button for people without the permission.
 */
export function useAddDialog(label: string, permission: string, requested?: RequestedDialog) {
  const may = useMay();
  const [opened, { open, close }] = useDisclosure();
  useRequestedDialog(requested, open);
  const button = may(permission) ? (
    <Button leftSection={<Icon name="plus" />} onClick={open}>
      {label}
    </Button>
  ) : undefined;
  return { button, dialog: { opened, close } };
}
