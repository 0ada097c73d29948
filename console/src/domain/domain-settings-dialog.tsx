import { Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useAccountId, useMe } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import { api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { showNotice } from '../components/notices.tsx';
import { editedFields } from '../form/edit.ts';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';

interface Values {
  readonly trackingHost: string;
  readonly sourcePool: string;
}

/** Edits the tracking host and source pool, with conflict detection. */
export function DomainSettingsDialog({ domain, close }: { domain: string; close: () => void }) {
  const accountId = useAccountId();
  const refresh = useRefresh('domains');
  const path = '/accounts/{accountId}/domains/{domain}/settings';
  const params = { accountId, domain };
  const settings = useQuery({
    queryKey: ['domains', accountId, domain, 'settings'],
    queryFn: () => api.get(path, params),
  });

  const { values, change, edit, save } = useForm({
    stored: settings.data,
    toValues: (stored): Values => ({
      trackingHost: stored?.trackingHost ?? '',
      sourcePool: stored?.sourcePool ?? '',
    }),
    async save({ values, seen, stored }) {
      const { trackingHost, ...others } = editedFields(seen, values);
      const host = trackingHost?.trim();
      // Only operators may send a source pool.
      const body = { ...others, ...(host !== undefined && { trackingHost: host || null }) };
      const saved = await putUnchanged(path, params, stored ?? {}, body);
      await refresh();
      showNotice(text('domainSettings.saved', { domain }));
      return saved;
    },
  });

  return (
    <FormDialog
      opened
      close={close}
      title={text('domainSettings.title')}
      action={text('domainSettings.save')}
      submit={save}
      isChanged={edit.isChanged}
    >
      {(error) =>
        settings.data !== undefined && (
          <Fields domain={domain} shown={values} change={change} error={error} />
        )
      }
    </FormDialog>
  );
}

interface FieldsProps {
  domain: string;
  shown: Values;
  change: (change: Partial<Values>) => void;
  error: unknown;
}

function Fields({ domain, shown, change, error }: FieldsProps) {
  const { data: me } = useMe();
  const { data: installation } = useSettings();
  return (
    <>
      <TextInput
        label={text('domainSettings.tracking')}
        description={text('domainSettings.trackingHint', { example: `links.${domain}` })}
        value={shown.trackingHost}
        onChange={({ currentTarget }) => change({ trackingHost: currentTarget.value })}
        error={reasonFor(error, 'trackingHost')}
        data-autofocus
      />
      {me?.operator === true && (
        <Select
          label={text('domainSettings.pool')}
          description={text('domainSettings.poolHint')}
          data={installation?.sourcePools ?? [shown.sourcePool]}
          allowDeselect={false}
          value={shown.sourcePool}
          onChange={(sourcePool) => sourcePool !== null && change({ sourcePool })}
          error={reasonFor(error, 'sourcePool')}
        />
      )}
    </>
  );
}
