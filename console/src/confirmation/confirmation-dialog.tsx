import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { text } from '../texts/text.ts';
import type { PendingConfirmation } from './pending-confirmation.ts';

/** The page that ends a confirmation announces it here. */
const channelName = 'signalpost-confirmed';
const page = `/sign-in/confirm?${new URLSearchParams({ next: '/me/confirmed' })}`;

/** Sends the person to confirm who they are in a window of its own, so that what they entered here stays. */
export function ConfirmationDialog({ pending }: { pending: PendingConfirmation }) {
  useEffect(() => {
    const channel = new BroadcastChannel(channelName);
    channel.onmessage = () => pending.finish(true);
    return () => channel.close();
  }, [pending]);
  return (
    <Modal
      opened
      onClose={() => pending.finish(false)}
      title={text('confirmation.title')}
      zIndex={400}
    >
      <Stack>
        <Text size="sm">{text('confirmation.why')}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => pending.finish(false)}>
            {text('cancel')}
          </Button>
          <Button
            data-autofocus
            onClick={() => window.open(page, 'signalpost-confirm', 'popup,width=480,height=720')}
          >
            {text('confirmation.open')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
