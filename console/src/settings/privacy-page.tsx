import './settings-texts.ts';
import { Group, NumberInput, Stack } from '@mantine/core';
import { useAccount, useAccountId, useMay } from '../account/use-me.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { RetentionRule } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { PageButton } from '../components/links.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { SaveButton } from '../components/save-button.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';

/** Retention of personal data, and data about a single person. */
export function PrivacyPage() {
  const accountId = useAccountId();
  return (
    <>
      <PageHeading title={text('nav.privacy')} />
      <PrivacySettings key={accountId} />
    </>
  );
}

function PrivacySettings() {
  const { account } = useAccount();
  const may = useMay();
  const rule = useGet('/accounts/{accountId}/retention-rule', { enabled: may('privacy:read') });
  if (!may('privacy:read')) return null;
  return (
    <Stack gap="lg" maw={760}>
      <SectionCard
        id="retention"
        title={text('privacy.retention')}
        hint={account !== undefined && text('privacy.hint', { count: account.retentionDays })}
      >
        <ProblemAlert error={rule.error} retry={() => rule.refetch()} />
        <RuleForm rule={rule.data} />
      </SectionCard>
      <SectionCard
        id="person"
        title={text('privacy.personTitle')}
        hint={text('privacy.personHint')}
      >
        <PageButton to="/$account/people">{text('people.find')}</PageButton>
      </SectionCard>
    </Stack>
  );
}

const kinds = ['contentDays', 'addressDays', 'engagementDays'] as const;

const emptyRule: RetentionRule = { contentDays: null, addressDays: null, engagementDays: null };

/** Shows no values while the rule loads, to reserve its space. */
function RuleForm({ rule }: { rule: RetentionRule | undefined }) {
  const accountId = useAccountId();
  const may = useMay();
  const params = { accountId };
  const { values, change, changed, saving, error, submit, reset } = useForm({
    stored: rule ?? emptyRule,
    toValues: (stored) => stored,
    save: ({ values: body, seen }) =>
      putUnchanged('/accounts/{accountId}/retention-rule', params, seen, body),
    notice: text('privacy.saved'),
    reload: useRefresh('retention-rule'),
  });

  return (
    <form onSubmit={submit}>
      <Group align="flex-start" mb="md">
        {kinds.map((kind) => (
          <NumberInput
            key={kind}
            label={text(`privacy.${kind}`)}
            placeholder={text('privacy.withMessage')}
            allowDecimal={false}
            readOnly={rule === undefined || !may('privacy:write')}
            w={{ base: '100%', xs: 190 }}
            value={values[kind] ?? ''}
            onChange={(value) => change({ [kind]: value === '' ? null : Number(value) })}
            error={reasonFor(error, kind)}
          />
        ))}
      </Group>
      {may('privacy:write') && <SaveButton changed={changed} saving={saving} />}
      <ProblemAlert error={error} onRefreshed={reset} />
    </form>
  );
}
