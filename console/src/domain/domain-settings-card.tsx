import './domain.css';
import { Button, Select, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { Domain } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { editedFields } from '../form/edit.ts';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';

/** Tracking host and source pool of a domain. */
export function DomainSettingsCard({ domain }: { domain: Domain }) {
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  return (
    <SectionCard
      id="domain-settings"
      title={text('domainSettings.title')}
      action={
        may('domains:write') && (
          <Button size="compact-sm" variant="default" onClick={dialog.open}>
            {text('domainSettings.change')}
          </Button>
        )
      }
    >
      <dl className="record">
        <dt>{text('domainSettings.tracking')}</dt>
        <dd>{domain.trackingHost ?? text('domainSettings.service')}</dd>
        <dt>{text('domainSettings.pool')}</dt>
        <dd>{domain.sourcePool}</dd>
      </dl>
      {opened && <DomainSettingsDialog domain={domain.domain} close={dialog.close} />}
    </SectionCard>
  );
}

interface Values {
  readonly trackingHost: string;
  readonly sourcePool: string;
}

/** Edits the tracking host and source pool, with conflict detection. */
function DomainSettingsDialog({ domain, close }: { domain: string; close: () => void }) {
  const accountId = useAccountId();
  const path = '/accounts/{accountId}/domains/{domain}/settings';
  const params = { accountId, domain };
  const settings = useGet(path, { params });

  const { values, change, dialog } = useForm({
    stored: settings.data,
    toValues: (stored): Values => ({
      trackingHost: stored?.trackingHost ?? '',
      sourcePool: stored?.sourcePool ?? '',
    }),
    save({ values, seen, stored }) {
      const { trackingHost, ...others } = editedFields(seen, values);
      const host = trackingHost?.trim();
      // Only operators may send a source pool.
      const body = { ...others, ...(host !== undefined && { trackingHost: host || null }) };
      return putUnchanged(path, params, stored ?? {}, body);
    },
    notice: text('domainSettings.saved', { domain }),
    reload: useRefresh('domains'),
  });

  return (
    <FormDialog
      opened
      close={close}
      title={text('domainSettings.title')}
      action={text('domainSettings.save')}
      {...dialog}
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
