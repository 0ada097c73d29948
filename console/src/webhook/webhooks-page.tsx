import { Badge, Button, Checkbox, SimpleGrid } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { Webhook } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { reasonFor } from '../api/problem.ts';
import { Field } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { SecretDialog } from '../integration/secret-dialog.tsx';
import { eventName, shownWebhookKinds } from '../message/event-texts.ts';
import { text } from '../texts/text.ts';

export function WebhookBadge({ webhook }: { webhook: Webhook }) {
  const { pausedAt, failingSince } = webhook;
  const state = pausedAt !== null ? 'paused' : failingSince !== null ? 'failing' : 'working';
  const color = { paused: 'yellow', failing: 'red', working: 'green' }[state];
  return (
    <Badge className="state-badge" data-color={color} tt="none">
      {text(`webhooks.${state}` as 'webhooks.working')}
    </Badge>
  );
}

/** The webhooks of the account. */
export function WebhooksPage() {
  const accountId = useAccountId();
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  const [secret, setSecret] = useState<string>();
  const pages = usePages<Webhook>({
    queryKey: ['webhooks', accountId],
    read: () =>
      answerOf(api.GET('/accounts/{accountId}/webhooks', { params: { path: { accountId } } })),
  });
  const add = may('webhooks:write') ? (
    <Button leftSection={<Icon name="plus" />} onClick={dialog.open}>
      {text('webhooks.add')}
    </Button>
  ) : undefined;
  return (
    <>
      <PageHeading title={text('webhooks.title')} hint={text('webhooks.hint')}>
        {add}
      </PageHeading>
      <ListBody
        label={text('webhooks.title')}
        pages={pages}
        idOf={({ id }) => id}
        empty={{
          icon: 'webhooks',
          title: text('webhooks.none'),
          hint: text('webhooks.noneHint'),
          action: add,
        }}
        columns={[
          {
            title: text('webhooks.url'),
            cell: ({ id, url }) => (
              <PageAnchor
                to="/$account/webhooks/$webhook"
                params={{ account: accountId, webhook: id }}
              >
                {url}
              </PageAnchor>
            ),
          },
          { title: text('webhooks.state'), cell: (webhook) => <WebhookBadge webhook={webhook} /> },
          {
            title: text('webhooks.kinds'),
            cell: (webhook) => webhook.kinds.map(eventName).join(', '),
          },
        ]}
      />
      <WebhookDialog opened={opened} close={dialog.close} show={setSecret} />
      <SecretDialog
        name={text('webhooks.secret')}
        secret={secret}
        close={() => setSecret(undefined)}
      />
    </>
  );
}

function WebhookDialog(props: {
  opened: boolean;
  close: () => void;
  show: (secret: string) => void;
}) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const [url, setUrl] = useState('');
  const [chosen, setChosen] = useState<string[]>([]);
  const { show, ...dialog } = props;

  async function submit() {
    const { secret } = await answerOf(
      api.POST('/accounts/{accountId}/webhooks', {
        params: { path: { accountId } },
        body: { url, kinds: chosen as Webhook['kinds'] },
      }),
    );
    await client.invalidateQueries({ queryKey: ['webhooks', accountId] });
    show(secret);
  }

  return (
    <FormDialog
      {...dialog}
      title={text('webhooks.add')}
      action={text('webhooks.add')}
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
            label={text('webhooks.kinds')}
            value={chosen}
            onChange={setChosen}
            error={reasonFor(error, 'kinds')}
          >
            <SimpleGrid cols={2} spacing={6} mt={4}>
              {shownWebhookKinds.map((kind) => (
                <Checkbox key={kind} value={kind} label={eventName(kind)} />
              ))}
            </SimpleGrid>
          </Checkbox.Group>
        </>
      )}
    </FormDialog>
  );
}
