import { Group, NativeSelect, Stack } from '@mantine/core';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { Webhook, WebhookTest } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { choicesOf } from '../components/choices-of.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { Note } from '../components/note.tsx';
import { formatDuration } from '../format/format-number.ts';
import { eventName, shownWebhookKinds } from '../message/event-texts.ts';
import { text } from '../texts/text.ts';
import { StatusBadge } from './delivery-badge.tsx';
import { formatJson, TextBlock, TryExchange } from './exchange.tsx';

interface TestEventDialogProps {
  close: () => void;
  webhook: Webhook;
}

/** Sends a sample event of a kind and shows the response. */
export const TestEventDialog = dialogOf(TestEventForm, () => text('webhooks.test'), 'lg');

function TestEventForm({ close, webhook }: TestEventDialogProps) {
  const accountId = useAccountId();
  const [kind, setKind] = useState(webhook.kinds[0] ?? 'delivered');
  const [result, setResult] = useState<WebhookTest>();

  async function submit() {
    setResult(undefined);
    const sent = await api.post(
      '/accounts/{accountId}/webhooks/{webhookId}/test',
      { accountId, webhookId: webhook.id },
      { kind },
    );
    setResult(sent);
  }

  return (
    <DialogForm
      close={close}
      action={text(result === undefined ? 'webhooks.testSend' : 'webhooks.testAgain')}
      submit={submit}
      stay
    >
      <NativeSelect
        label={text('webhooks.event')}
        description={text('webhooks.testHint')}
        value={kind}
        onChange={(event) => setKind(event.currentTarget.value as typeof kind)}
        data={choicesOf(shownWebhookKinds, eventName)}
        data-autofocus
      />
      {result !== undefined && (
        <Stack gap="sm" role="status">
          <Group gap="xs">
            <StatusBadge status={result.status} />
            <Note size="sm">{formatDuration(result.durationMs)}</Note>
          </Group>
          <TryExchange exchange={result} />
          <TextBlock title={text('webhooks.payload')}>{formatJson(result.request)}</TextBlock>
        </Stack>
      )}
    </DialogForm>
  );
}
