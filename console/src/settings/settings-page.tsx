import { useRefresh } from '../api/use-refresh.ts';
import { Note } from '../components/note.tsx';
import './settings-texts.ts';
import { Anchor, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useAccount, useMay, useMe } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { Backup, MyAccount, Settings } from '../api/management.generated.ts';
import { localProblem, reasonFor } from '../api/problem.ts';
import { CopyField } from '../components/copy-field.tsx';
import { Facts } from '../components/facts.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { SaveButton } from '../components/save-button.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useForm } from '../form/use-form.ts';
import { text, textOr } from '../texts/text.ts';
import { OperatorSettings, SuspendCard } from './operator-settings.tsx';
import { QuotaSettings } from './quota-settings.tsx';
import { useBackup } from './use-backup.ts';

/** Settings of the account and the installation. */
export function SettingsPage() {
  const { account } = useAccount();
  const settings = useSettings();
  return (
    <>
      <PageHeading title={text('nav.settings')} hint={text('settings.hint')} />
      <Stack gap="lg" maw={760}>
        {account !== undefined && <AccountSettings key={account.id} account={account} />}
        {account !== undefined && <AccountDetails account={account} />}
        {account !== undefined && <QuotaSettings key={`quota ${account.id}`} account={account} />}
        {account !== undefined && <OperatorSettings key={`operate ${account.id}`} />}
        <ProblemAlert error={settings.error} retry={() => settings.refetch()} />
        {settings.isPending && <RowsSkeleton />}
        {settings.data !== undefined && <InstallationSettings settings={settings.data} />}
        {account !== undefined && <SuspendCard key={`suspend ${account.id}`} />}
      </Stack>
    </>
  );
}

/** The members that are edited. */
function profileOf({ name, archiveAddress }: Pick<MyAccount, 'name' | 'archiveAddress'>) {
  return { name, archiveAddress };
}

function AccountSettings({ account }: { account: MyAccount }) {
  const may = useMay();
  const params = { accountId: account.id };
  const { values, change, changed, saving, error, submit, reset } = useForm({
    stored: profileOf(account),
    toValues: profileOf,
    async save({ values, seen }) {
      if (values.name.trim() === '') throw localProblem('name', text('settings.nameBlank'));
      const body = { ...values, archiveAddress: values.archiveAddress.trim() };
      return putUnchanged('/accounts/{accountId}', params, seen, body);
    },
    notice: text('settings.saved'),
    // Keeps the operator settings in sync with the new name.
    reload: useRefresh('/me', '/installation/accounts/{accountId}'),
  });

  if (!may('account:write')) return null;
  return (
    <SectionCard id="account" title={text('settings.account')}>
      <form onSubmit={submit}>
        <SimpleGrid cols={{ base: 1, sm: 2 }} mb="md">
          <TextInput
            label={text('settings.name')}
            required
            value={values.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
            error={reasonFor(error, 'name')}
          />
          <TextInput
            label={text('settings.archiveAddress')}
            description={text('settings.archiveHint')}
            placeholder={text('policy.nobody')}
            value={values.archiveAddress}
            onChange={(event) => change({ archiveAddress: event.currentTarget.value })}
            error={reasonFor(error, 'archiveAddress')}
          />
        </SimpleGrid>
        <SaveButton changed={changed} saving={saving} />
        <ProblemAlert error={error} onRefreshed={reset} />
      </form>
    </SectionCard>
  );
}

function AccountDetails({ account }: { account: MyAccount }) {
  const { data: me } = useMe();
  return (
    <SectionCard id="details" title={text('settings.details')}>
      <Facts
        facts={[
          [
            text('settings.id'),
            <CopyField key="id" value={account.id} label={text('settings.id')} />,
          ],
          [
            text('settings.retention'),
            <span key="retention">
              {text('settings.days', { count: account.retentionDays })}
              <Note>
                {me?.operator === true ? (
                  <Anchor href="#operate" inherit>
                    {text('settings.retentionChange')}
                  </Anchor>
                ) : (
                  text('settings.retentionHint')
                )}
              </Note>
            </span>,
          ],
        ]}
      />
    </SectionCard>
  );
}

function BackupState({ ok, finding, advice, lastAt }: Backup) {
  return (
    <Stack gap={2}>
      {lastAt !== null && (
        <Text size="sm">
          <TimeText value={lastAt} as="distance" />
        </Text>
      )}
      <Text size="sm" {...(!ok && { c: 'red', role: 'alert' })}>
        {finding.charAt(0).toUpperCase() + finding.slice(1)}
      </Text>
      {advice !== null && <Note>{advice}</Note>}
    </Stack>
  );
}

function InstallationSettings({ settings }: { settings: Settings }) {
  const { data: backup, error, refetch } = useBackup();
  return (
    <SectionCard
      id="installation"
      title={text('settings.installation')}
      hint={text('settings.environment')}
    >
      <Facts
        facts={[
          [text('settings.version'), settings.version],
          [text('settings.publicUrl'), settings.publicUrl],
          [
            text('settings.delivery'),
            textOr(`settings.delivery.${settings.delivery}`, settings.delivery),
          ],
          [text('settings.redirect'), settings.deliveryRedirect],
          [text('settings.allow'), settings.deliveryAllow.join(', ') || null],
          [text('settings.hostname'), settings.hostname],
          [text('settings.backup'), backup ? <BackupState key="backup" {...backup} /> : null],
        ]}
      />
      <ProblemAlert error={error} retry={() => refetch()} />
    </SectionCard>
  );
}
