import './integration-texts.ts';
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyField } from '../components/copy-field.tsx';
import { text } from '../texts/text.ts';

interface SecretDialogProps {
  name: string;
  /** The dialog is closed without one. */
  secret: string | undefined;
  id?: string | undefined;
  close: () => void;
  /** How to use it. */
  children?: ReactNode;
}

/** Shows a secret once. A stray click doesn't close the dialog. */
export function SecretDialog({ name, secret, id, close, children }: SecretDialogProps) {
  return (
    <Modal
      opened={secret !== undefined}
      onClose={close}
      title={name}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      size="lg"
    >
      <Stack>
        <Alert color="yellow" title={text('secret.once')}>
          {text('secret.onceHint')}
        </Alert>
        {id !== undefined && (
          <div>
            <Text size="sm" fw={600}>
              {text('integrations.clientId')}
            </Text>
            <CopyField value={id} label={text('integrations.clientId')} />
          </div>
        )}
        <div>
          <Text size="sm" fw={600}>
            {name}
          </Text>
          <CopyField value={secret ?? ''} label={name} />
        </div>
        {children}
        <Group justify="flex-end">
          <Button onClick={close}>{text('secret.saved')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
