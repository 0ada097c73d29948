import { Button, Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Confirm } from '../components/confirm.tsx';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { text } from '../texts/text.ts';
import { isContentErased, isFinalMessageState, waitOf } from './message-states.ts';

/** The actions available in the state of a message: retry, pause, resume, cancel, resend. */
export function MessageActions({ message }: { message: Message }) {
  const account = useAccountId();
  const may = useMay();
  const refresh = useRefresh('message');
  const navigate = useNavigate();
  const [canceling, setCanceling] = useState(false);
  const [resending, setResending] = useState(false);
  const path = { accountId: account, messageId: message.messageId };

  const control = useAction({
    mutationFn: (action: 'retry' | 'cancel' | 'pause' | 'resume') =>
      api.post(`/accounts/{accountId}/messages/{messageId}/${action}`, path),
    onSettled: refresh,
  });
  async function resend() {
    const { messageId } = await api.post('/accounts/{accountId}/messages/{messageId}/resend', path);
    await navigate({ to: '/$account/messages/$message', params: { account, message: messageId } });
  }

  if (!may('messages:control')) return null;
  const final = isFinalMessageState(message.state);
  const wait = waitOf(message);
  const waiting = !final && message.state !== 'sending' && wait !== 'canceling';
  const paused = message.nextAttempt?.paused ?? null;
  const scheduled = wait === 'scheduled';
  const to = message.recipients[0]?.address ?? message.messageId;
  return (
    <div>
      <Group gap="xs">
        {/* A retry doesn't send a scheduled message early; rescheduling it does. */}
        {waiting && paused === null && !scheduled && (
          <Button loading={control.isPending} onClick={() => control.mutate('retry')}>
            {text('message.retry')}
          </Button>
        )}
        {waiting && !scheduled && (paused === null || paused === 'message') && (
          <Button
            variant={paused === null ? 'default' : 'filled'}
            loading={control.isPending}
            onClick={() => control.mutate(paused === null ? 'pause' : 'resume')}
          >
            {text(paused === null ? 'message.pause' : 'message.resume')}
          </Button>
        )}
        {waiting && (
          <Button variant="default" className="destructive" onClick={() => setCanceling(true)}>
            {text('message.cancel')}
          </Button>
        )}
        {final && (
          <Button
            variant="default"
            disabled={isContentErased(message)}
            title={isContentErased(message) ? text('message.noResend') : undefined}
            onClick={() => setResending(true)}
          >
            {text('message.resend')}
          </Button>
        )}
      </Group>
      <ConfirmByName
        opened={canceling}
        close={() => setCanceling(false)}
        title={text('message.cancelTitle')}
        consequence={text('message.cancelConsequence')}
        name={message.recipients[0]?.address ?? 'cancel'}
        action={text('message.cancel')}
        dismiss={text('schedule.keep')}
        confirm={() => control.mutateAsync('cancel')}
      />
      <Confirm
        opened={resending}
        close={() => setResending(false)}
        title={text('message.resendTitle')}
        consequence={text('message.resendConsequence', { to })}
        action={text('message.resend')}
        conflictTitle={text('message.resendConflict')}
        confirm={resend}
      />
      {control.data?.changed === 0 && (
        <Text size="sm" role="status">
          {text(control.data.busy > 0 ? 'message.busy' : 'message.unchanged')}
        </Text>
      )}
      <ProblemAlert error={control.error} />
    </div>
  );
}
