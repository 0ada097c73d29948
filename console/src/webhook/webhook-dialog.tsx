import { Anchor, Checkbox, Fieldset, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { Webhook } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { Field } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { eventName, shownWebhookKinds } from '../message/event-texts.ts';
import { text } from '../texts/text.ts';

type Kind = Webhook['kinds'][number];

/** What most programs react to. */
const usualKinds: readonly Kind[] = ['delivered', 'bounced', 'failed', 'complained'];

const fromRecipients: readonly Kind[] = [
  'replied',
  'opened',
  'clicked',
  'complained',
  'unsubscribed',
];

const groups = [
  ['sending', shownWebhookKinds.filter((kind) => !fromRecipients.includes(kind))],
  ['recipients', fromRecipients],
] as const;

interface WebhookDialogProps {
  opened: boolean;
  close: () => void;
  /** If given, it is edited. */
  webhook?: Webhook;
  /** Receives the secret of a new webhook. */
  show?: (secret: string) => void;
}

/** Adds a webhook and shows its secret, or edits one. */
export function WebhookDialog({ opened, ...form }: WebhookDialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={form.close}
      title={text(form.webhook === undefined ? 'webhooks.add' : 'webhooks.change')}
      size="lg"
    >
      <WebhookForm {...form} />
    </Modal>
  );
}

function WebhookForm({ close, show, ...props }: Omit<WebhookDialogProps, 'opened'>) {
  const accountId = useAccountId();
  const client = useQueryClient();
  // Edits the data shown when the dialog opened, even if the page reloads it.
  const [webhook] = useState(props.webhook);
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [kinds, setKinds] = useState<readonly string[]>(webhook?.kinds ?? usualKinds);
  const all = kinds.length === shownWebhookKinds.length;

  async function submit() {
    const body = { url, kinds: kinds as Kind[] };
    if (webhook === undefined) {
      const path = { accountId };
      const { secret } = await answerOf(
        api.POST('/accounts/{accountId}/webhooks', { params: { path }, body }),
      );
      show?.(secret);
    } else {
      const params = { path: { accountId, webhookId: webhook.id } };
      const resourcePath = '/accounts/{accountId}/webhooks/{webhookId}';
      await ifUnchanged(
        { url: webhook.url, kinds: webhook.kinds },
        () => api.GET(resourcePath, { params }),
        (precondition) => api.PUT(resourcePath, { params, body, ...precondition }),
      );
    }
    await client.invalidateQueries({ queryKey: ['webhooks', accountId] });
  }

  return (
    <DialogForm
      close={close}
      action={text(webhook === undefined ? 'webhooks.add' : 'save')}
      submit={submit}
    >
      {(error) => (
        <>
          <Field
            field="url"
            label={text('webhooks.url')}
            description={text('webhooks.urlHint')}
            placeholder="https://"
            required
            value={url}
            change={setUrl}
            error={error}
            data-autofocus
          />
          <Checkbox.Group
            label={
              <Group gap="xs" component="span">
                {text('webhooks.kinds')}
                <Anchor
                  component="button"
                  type="button"
                  size="sm"
                  onClick={() => setKinds(all ? [] : shownWebhookKinds)}
                >
                  {text(all ? 'webhooks.noKinds' : 'webhooks.allKinds')}
                </Anchor>
              </Group>
            }
            value={[...kinds]}
            onChange={setKinds}
            error={reasonFor(error, 'kinds')}
          >
            <Stack gap={24} mt="xs">
              {groups.map(([group, members]) => (
                <Fieldset
                  key={group}
                  variant="unstyled"
                  m={0}
                  legend={
                    <Text size="sm" fw={600}>
                      {text(`webhooks.group.${group}`)}
                    </Text>
                  }
                >
                  <SimpleGrid cols={{ base: 2, xs: 3 }} spacing={6}>
                    {members.map((kind) => (
                      <Checkbox key={kind} value={kind} label={eventName(kind)} />
                    ))}
                  </SimpleGrid>
                </Fieldset>
              ))}
            </Stack>
          </Checkbox.Group>
        </>
      )}
    </DialogForm>
  );
}
