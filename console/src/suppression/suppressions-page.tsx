import { Button, Group, NativeSelect } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { Suppression } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { choicesOf } from '../components/choices-of.ts';
import { Field } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import type { Column } from '../components/rows.tsx';
import { SearchField, useTypedText } from '../components/search-field.tsx';
import { TimeText } from '../components/time-text.tsx';
import { UndoButton } from '../components/undo-button.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { Imports } from '../import/imports.tsx';
import { text, textOr } from '../texts/text.ts';
import {
  readSuppressionFilters,
  type SuppressionFilters,
  type SuppressionReasonCode,
  suppressionReasonCodes,
} from './suppression-filters.ts';

const route = getRouteApi('/$account/suppressions');

function nameOf(reason: SuppressionReasonCode): string {
  return textOr(`suppression.${reason}`, reason);
}

/** Suppressed addresses and reasons; filters are in the URL, so they can be shared. */
export function SuppressionsPage() {
  const accountId = useAccountId();
  const may = useMay();
  const { button: add, dialog } = useAddDialog(
    text('suppressions.add'),
    'suppressions:write',
    'suppress-address',
  );
  const importer = useDialog();
  const filters = readSuppressionFilters(route.useSearch());
  const { contains, reason } = filters;
  const pages = usePages('/accounts/{accountId}/suppressions', { query: filters });
  const filtered = contains !== undefined || reason !== undefined;
  return (
    <>
      <PageHeading title={text('nav.suppressions')} hint={text('suppressions.hint')}>
        {add}
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
      <Imports
        dialog={importer}
        title={text('suppressions.importTitle')}
        hint={text('suppressions.importHint')}
      />
      {(filtered || pages.items.length > 0 || pages.isPlaceholderData) && (
        <Filters filters={filters} />
      )}
      <ListBody
        label={text('nav.suppressions')}
        pages={pages}
        idOf={({ address, reason: why }) => `${address} ${why}`}
        empty={{
          icon: 'suppressions',
          title: text(filtered ? 'suppressions.noneFound' : 'suppressions.none'),
          hint: text(filtered ? 'suppressions.noneFoundHint' : 'suppressions.noneHint'),
        }}
        columns={[addressColumn, ...suppressionColumns]}
      />
      <SuppressionDialog {...dialog} />
    </>
  );
}

const addressColumn: Column<Suppression> = {
  title: text('suppressions.address'),
  cell: ({ address }) => (
    <PageAnchor to="/$account/people" search={{ address }}>
      {address}
    </PageAnchor>
  ),
};

/** Why and since when an address is suppressed, and its removal. */
export const suppressionColumns: readonly Column<Suppression>[] = [
  {
    title: text('suppressions.reason'),
    cell: (entry) => nameOf(entry.reason),
  },
  {
    title: text('suppressions.since'),
    cell: ({ createdAt }) => <TimeText value={createdAt} as="minute" />,
  },
  {
    title: text('suppressions.message'),
    cell: ({ messageId }) =>
      messageId !== null && (
        <PageAnchor to="/$account/messages/$message" params={{ message: messageId }}>
          {text('suppressions.showMessage')}
        </PageAnchor>
      ),
  },
  {
    title: text('actions'),
    actions: true,
    cell: (entry) => <RemoveSuppression entry={entry} />,
  },
];

/** Updates the filters in the URL: selections immediately, typed text after a short delay. */
function Filters({ filters }: { filters: SuppressionFilters }) {
  const navigate = route.useNavigate();
  const change = (part: Record<string, string>) =>
    navigate({ search: (now) => readSuppressionFilters({ ...now, ...part }), replace: true });
  const typed = useTypedText(filters.contains ?? '', (contains) => change({ contains }));

  return (
    <Group component="search" mb="md" gap="xs">
      <SearchField name={text('suppressions.find')} {...typed} />
      <NativeSelect
        aria-label={text('suppressions.reason')}
        value={filters.reason ?? ''}
        onChange={(event) => change({ reason: event.currentTarget.value })}
        data={[
          { value: '', label: text('suppressions.anyReason') },
          ...choicesOf(suppressionReasonCodes, nameOf),
        ]}
      />
    </Group>
  );
}

function RemoveSuppression({ entry }: { entry: Suppression }) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('suppressions');
  if (!may('suppressions:write')) return null;
  const { address, reason, createdAt } = entry;
  const resourcePath = '/accounts/{accountId}/suppressions/{address}';
  const params = { accountId, address };
  async function read() {
    const { value, tag } = await api.getTagged(resourcePath, params);
    const found = value.items.find((one) => one.reason === reason);
    return { value: { createdAt: found?.createdAt ?? null }, tag };
  }
  /** Other reasons why the address is suppressed. */
  async function readLeft() {
    const { items } = await api.get(resourcePath, params).catch(() => ({ items: [] }));
    return items;
  }
  return (
    <UndoButton
      name={address}
      remove={async () => {
        await ifUnchanged({ createdAt }, read, (precondition) =>
          api.delete(resourcePath, params, { query: { reason }, ...precondition }),
        );
        const [left] = await Promise.all([readLeft(), refresh()]);
        if (left.length === 0) return undefined;
        return text('suppressions.stillSuppressed', {
          address,
          removed: nameOf(reason),
          left: left.map((one) => nameOf(one.reason)).join(', '),
        });
      }}
      restore={async () => {
        await api.put(resourcePath, params, { reason });
        await refresh();
      }}
      restored={text('suppressions.again', { address })}
    />
  );
}

function SuppressionDialog(props: { opened: boolean; close: () => void }) {
  const accountId = useAccountId();
  const refresh = useRefresh('suppressions');
  const [address, setAddress] = useState('');

  async function submit() {
    await api.put('/accounts/{accountId}/suppressions/{address}', { accountId, address }, {});
    setAddress('');
    await refresh();
  }

  return (
    <FormDialog
      {...props}
      title={text('suppressions.add')}
      action={text('suppressions.add')}
      submit={submit}
    >
      <Field
        field="address"
        label={text('suppressions.address')}
        description={text('suppressions.addHint')}
        type="email"
        required
        value={address}
        change={setAddress}
        data-autofocus
      />
    </FormDialog>
  );
}
