import {
  Anchor,
  Checkbox,
  Fieldset,
  Group,
  NativeSelect,
  SimpleGrid,
  Stack,
  Text,
} from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { Webhook } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { choicesOf } from '../components/choices-of.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { Field } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { useForm } from '../form/use-form.ts';
import { eventName, shownWebhookKinds } from '../message/event-texts.ts';
import { text } from '../texts/text.ts';

type Kind = Webhook['kinds'][number];

/** What most programs react to. */
const usualKinds: readonly Kind[] = ['delivered', 'bounced', 'failed', 'complained'];

const fromRecipients: readonly Kind[] = [
  'replied',
  'opened',
  'clicked',
  'link-scanned',
  'link-confirmed',
  'complained',
  'unsubscribed',
];

const groups = [
  ['sending', shownWebhookKinds.filter((kind) => !fromRecipients.includes(kind))],
  ['recipients', fromRecipients],
] as const;

const webhookPath = '/accounts/{accountId}/webhooks/{webhookId}';

type Format = Webhook['format'];

const formats: readonly Format[] = [
  'signalpost',
  'resend',
  'postmark',
  'sendgrid',
  'mailgun',
  'ses',
];

type EditedWebhook = Pick<Webhook, 'id' | 'url' | 'kinds' | 'format'>;

function toValues(webhook: EditedWebhook | undefined) {
  const kinds: readonly string[] = webhook?.kinds ?? usualKinds;
  const format: Format = webhook?.format ?? 'signalpost';
  return { url: webhook?.url ?? '', kinds, format, credentials: '' };
}

interface WebhookDialogProps {
  close: () => void;
  /** If given, it is edited. */
  webhook?: Webhook;
  /** Receives the secret of a new webhook. */
  show?: (secret: string, format: Format) => void;
}

/** Adds a webhook and shows its secret, or edits one. */
export const WebhookDialog = dialogOf(
  WebhookForm,
  ({ webhook }) => text(webhook === undefined ? 'webhooks.add' : 'webhooks.change'),
  'lg',
);

function WebhookForm({ close, show, ...props }: WebhookDialogProps) {
  const accountId = useAccountId();
  const reload = useRefresh('webhooks');
  const { values, change, stored, dialog } = useForm({
    stored: props.webhook as EditedWebhook | undefined,
    toValues,
    async save({ values: { credentials, ...values }, seen, stored: webhook }) {
      const { credentials: _, ...shown } = seen;
      const body = {
        ...values,
        kinds: values.kinds as Kind[],
        ...(values.format === 'postmark' && credentials !== '' && { credentials }),
      };
      const path = { accountId };
      if (webhook === undefined) {
        const { id, secret } = await api.post('/accounts/{accountId}/webhooks', path, body);
        await reload();
        show?.(secret, body.format);
        return { id, ...body };
      }
      const params = { accountId, webhookId: webhook.id };
      const saved = await putUnchanged(
        webhookPath,
        params,
        { ...shown, kinds: seen.kinds as Kind[] },
        body,
      );
      await reload();
      return saved;
    },
  });
  const all = values.kinds.length === shownWebhookKinds.length;

  return (
    <DialogForm
      close={close}
      action={text(stored === undefined ? 'webhooks.add' : 'save')}
      {...dialog}
    >
      {(error) => (
        <>
          <Field
            field="url"
            label={text('webhooks.url')}
            description={text('webhooks.urlHint')}
            placeholder="https://"
            required
            value={values.url}
            change={(url) => change({ url })}
            error={error}
            data-autofocus
          />
          <NativeSelect
            label={text('webhooks.format')}
            description={text('webhooks.formatHint')}
            value={values.format}
            onChange={(event) => change({ format: event.currentTarget.value as Format })}
            data={choicesOf(formats, (format) => text(`webhooks.format.${format}`))}
            error={reasonFor(error, 'format')}
          />
          {values.format === 'postmark' && (
            <Field
              field="credentials"
              label={text('webhooks.credentials')}
              description={text('webhooks.credentialsHint')}
              placeholder="user:password"
              autoComplete="off"
              value={values.credentials}
              change={(credentials) => change({ credentials })}
              error={error}
            />
          )}
          <Checkbox.Group
            label={
              <Group gap="xs" component="span">
                {text('webhooks.kinds')}
                <Anchor
                  component="button"
                  type="button"
                  size="sm"
                  onClick={() => change({ kinds: all ? [] : shownWebhookKinds })}
                >
                  {text(all ? 'webhooks.noKinds' : 'webhooks.allKinds')}
                </Anchor>
              </Group>
            }
            value={[...values.kinds]}
            onChange={(kinds) => change({ kinds })}
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
