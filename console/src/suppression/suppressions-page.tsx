import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { Suppression } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { unlessChanged } from '../api/unless-changed.ts';
import { Field } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { PageAnchor } from '../parts/links.tsx';
import { ListBody } from '../parts/list-body.tsx';
import { PageHeading } from '../parts/page-heading.tsx';
import { TimeText } from '../parts/time-text.tsx';
import { UndoButton } from '../parts/undo-button.tsx';
import { text, textOr } from '../texts/text.ts';
import { ImportSuppressionsDialog } from './import-suppressions-dialog.tsx';

type Reason = Suppression['reason'];

const reasons: readonly Reason[] = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'];

function nameOf(reason: Reason): string {
  return textOr(`suppression.${reason}`, reason);
}

/** Addresses that must not be written to, and why. */
export function SuppressionsPage() {
  const accountId = useAccountId();
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  const [importing, importer] = useDisclosure();
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState<Reason | ''>('');
  const [contains] = useDebouncedValue(typed.trim(), 250);
  const pages = usePages<Suppression>({
    queryKey: ['suppressions', accountId, contains, reason],
    read: (cursor) =>
      answerOf(
        api.GET('/accounts/{accountId}/suppressions', {
          params: {
            path: { accountId },
            query: {
              cursor,
              ...(contains !== '' && { contains }),
              ...(reason !== '' && { reason }),
            },
          },
        }),
      ),
  });
  const filtered = contains !== '' || reason !== '';
  return (
    <>
      <PageHeading title={text('suppressions.title')} hint={text('suppressions.hint')}>
        {may('suppressions:write') && (
          <Button leftSection={<Icon name="plus" />} onClick={dialog.open}>
            {text('suppressions.add')}
          </Button>
        )}
        {may('suppressions:write') && (
          <Button variant="default" onClick={importer.open}>
            {text('contacts.import')}
          </Button>
        )}
        <Button
          component="a"
          variant="default"
          href={`/manage/v1/accounts/${accountId}/suppressions-export`}
          download
        >
          {text('suppressions.export')}
        </Button>
      </PageHeading>
      <Group component="search" mb="md" align="flex-end">
        <TextInput
          label={text('suppressions.find')}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <NativeSelect
          label={text('suppressions.reason')}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value as Reason | '')}
          data={[
            { value: '', label: text('suppressions.anyReason') },
            ...reasons.map((value) => ({ value, label: nameOf(value) })),
          ]}
        />
      </Group>
      <ListBody
        label={text('suppressions.title')}
        pages={pages}
        idOf={({ address, reason: why }) => `${address} ${why}`}
        empty={{
          icon: 'suppressions',
          title: text(filtered ? 'suppressions.noneFound' : 'suppressions.none'),
          hint: text(filtered ? 'suppressions.noneFoundHint' : 'suppressions.noneHint'),
        }}
        columns={[
          { title: text('suppressions.address'), cell: ({ address }) => address },
          {
            title: text('suppressions.reason'),
            cell: (entry) => nameOf(entry.reason),
          },
          {
            title: text('suppressions.since'),
            cell: ({ createdAt }) => <TimeText value={createdAt} />,
          },
          {
            title: text('suppressions.message'),
            cell: ({ messageId }) =>
              messageId !== null && (
                <PageAnchor
                  to="/$account/messages/$message"
                  params={{ account: accountId, message: messageId }}
                >
                  {text('suppressions.showMessage')}
                </PageAnchor>
              ),
          },
          {
            title: text('actions'),
            actions: true,
            cell: (entry) => <RemoveSuppression entry={entry} />,
          },
        ]}
      />
      <SuppressionDialog opened={opened} close={dialog.close} />
      <ImportSuppressionsDialog opened={importing} close={importer.close} />
    </>
  );
}

function RemoveSuppression({ entry }: { entry: Suppression }) {
  const accountId = useAccountId();
  const may = useMay();
  const client = useQueryClient();
  if (!may('suppressions:write')) return null;
  const refresh = () => client.invalidateQueries({ queryKey: ['suppressions', accountId] });
  const { address, reason, createdAt } = entry;
  const it = '/accounts/{accountId}/suppressions/{address}';
  const params = { path: { accountId, address }, query: { reason } };
  async function read() {
    const { data, ...rest } = await api.GET(it, { params: { path: params.path } });
    const found = data?.items.find((one) => one.reason === reason);
    return { ...rest, data: { createdAt: found?.createdAt ?? null } };
  }
  /** For which other reasons the address is suppressed. */
  async function readLeft() {
    const { data } = await api.GET(it, { params: { path: params.path } });
    return data?.items;
  }
  return (
    <UndoButton
      name={address}
      remove={async () => {
        await unlessChanged({ createdAt }, read, (precondition) =>
          api.DELETE(it, { params, ...precondition }),
        );
        const [left] = await Promise.all([readLeft(), refresh()]);
        if (left === undefined || left.length === 0) return undefined;
        return text('suppressions.stillSuppressed', {
          address,
          removed: nameOf(reason),
          left: left.map((one) => nameOf(one.reason)).join(', '),
        });
      }}
      restore={async () => {
        await answerOf(api.PUT(it, { params: { path: params.path }, body: { reason } }));
        await refresh();
      }}
      restored={text('suppressions.again', { address })}
    />
  );
}

function SuppressionDialog(props: { opened: boolean; close: () => void }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const [address, setAddress] = useState('');

  async function submit() {
    await answerOf(
      api.PUT('/accounts/{accountId}/suppressions/{address}', {
        params: { path: { accountId, address } },
        body: {},
      }),
    );
    setAddress('');
    await client.invalidateQueries({ queryKey: ['suppressions', accountId] });
  }

  return (
    <FormDialog
      {...props}
      title={text('suppressions.add')}
      action={text('suppressions.add')}
      submit={submit}
    >
      {(error) => (
        <Field
          field="address"
          label={text('suppressions.address')}
          description={text('suppressions.addHint')}
          type="email"
          required
          value={address}
          change={setAddress}
          error={error}
          data-autofocus
        />
      )}
    </FormDialog>
  );
}
