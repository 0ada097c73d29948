import { Select, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId, useMe } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { DomainSettings } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { showNotice } from '../components/notices.tsx';
import { text } from '../texts/text.ts';

interface Changes {
  readonly trackingHost?: string | null;
  readonly sourcePool?: string;
}

/** Edits the tracking host and source pool, with conflict detection. */
export function DomainSettingsDialog({ domain, close }: { domain: string; close: () => void }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const path = '/accounts/{accountId}/domains/{domain}/settings';
  const params = { path: { accountId, domain } };
  const [changes, setChanges] = useState<Changes>({});
  const settings = useQuery({
    queryKey: ['domains', accountId, domain, 'settings'],
    queryFn: () => answerOf(api.GET(path, { params })),
    // Edits what was loaded when the dialog opened.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

  async function submit() {
    await ifUnchanged(
      settings.data ?? {},
      () => api.GET(path, { params }),
      (precondition) => api.PUT(path, { params, body: changes, ...precondition }),
    );
    await client.invalidateQueries({ queryKey: ['domains', accountId] });
    showNotice(text('domainSettings.saved', { domain }));
  }

  return (
    <FormDialog
      opened
      close={close}
      title={text('domainSettings.title')}
      action={text('domainSettings.save')}
      submit={submit}
    >
      {(error) =>
        settings.data !== undefined && (
          <Fields
            domain={domain}
            shown={{ ...settings.data, ...changes }}
            change={(change) => setChanges({ ...changes, ...change })}
            error={error}
          />
        )
      }
    </FormDialog>
  );
}

interface FieldsProps {
  domain: string;
  shown: DomainSettings;
  change: (change: Changes) => void;
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
        value={shown.trackingHost ?? ''}
        onChange={({ currentTarget: { value } }) =>
          change({ trackingHost: value.trim() === '' ? null : value.trim() })
        }
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
