import { useRefresh } from '../api/use-refresh.ts';
import { choicesOf } from '../components/choices-of.ts';
import { useDialog } from '../components/use-dialog.ts';
import './domain-texts.ts';
import {
  Alert,
  Button,
  Code,
  Group,
  List,
  NativeSelect,
  Progress,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { deleteUnchanged } from '../api/if-unchanged.ts';
import type { DomainDetail, DomainRecord } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { isNotFound } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { keyOf, useGet } from '../api/use-get.ts';
import { Confirm } from '../components/confirm.tsx';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { CopyButton } from '../components/copy-field.tsx';
import { PageAnchor, PageButton } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import { showNotice } from '../components/notices.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { PageProblem } from '../components/page-problem.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { DomainBadge } from './domain-badge.tsx';
import { DomainSettingsCard } from './domain-settings-card.tsx';
import { type ProviderId, providerNames } from './record-boxes.ts';
import { RecordCard } from './record-card.tsx';
import { isLocal, recordsNow, requiredProblems } from './records-now.ts';
import { WarmUpCard } from './warm-up-card.tsx';
import { withCode } from './with-code.tsx';
import { zoneFile } from './zone-file.ts';

const domainPath = '/accounts/{accountId}/domains/{domain}';

/** A sending domain with the records to publish and what was found for each. */
export function DomainPage() {
  const { domain: name = '' } = useParams({ strict: false });
  const domain = useGet(domainPath, {
    params: { domain: name },
    // Polls, because the service also checks the records on its own.
    refetchInterval: ({ state }) => (state.data?.state === 'verified' ? false : liveCheckMs),
  });
  const live = useLiveCheck(domain.data);
  return (
    <>
      <PageAnchor to="/$account/domains" size="sm">
        {text('domains.all')}
      </PageAnchor>
      <PageHeading
        title={isNotFound(domain.error) ? text('missing.domain') : name}
        state={domain.data !== undefined && <RecordsBadge domain={domain.data} />}
        {...(domain.data !== undefined &&
          domain.data.state !== 'verified' &&
          domain.data.problems.length === 0 && { hint: text('domains.publish') })}
      >
        {domain.data !== undefined && <DomainActions domain={domain.data} />}
      </PageHeading>
      <PageProblem error={domain.error} icon="domains" name={name} retry={() => domain.refetch()}>
        <PageButton to="/$account/domains">{text('domains.all')}</PageButton>
      </PageProblem>
      {domain.isPending && <RowsSkeleton />}
      {domain.data !== undefined && (
        <Stack gap="lg">
          <VerificationProgress domain={domain.data} live={live} />
          {!isLocal(domain.data) && <DomainProblems domain={domain.data} />}
          <Records domain={domain.data} />
          {isLocal(domain.data) && <DomainProblems domain={domain.data} quiet />}
          <DomainSettingsCard domain={domain.data} />
          <WarmUpCard domain={domain.data} />
        </Stack>
      )}
    </>
  );
}

/** The state of a domain; until it is verified, that of the records that have to be corrected or added first. */
function RecordsBadge({ domain }: { domain: DomainDetail }) {
  const problems = requiredProblems(domain);
  if (domain.state !== 'pending' || problems === undefined)
    return <DomainBadge state={domain.state} />;
  const { kind, ...counts } = problems;
  return (
    <DomainBadge state={counts.wrong > 0 ? 'wrong' : 'pending'}>
      {text(`domains.records.${kind}`, counts)}
    </DomainBadge>
  );
}

/** How often the records are checked while the page is open, in milliseconds. */
const liveCheckMs = 10_000;

/** Checks the records while the page is open and visible, until the domain is verified. @returns whether it does */
function useLiveCheck(domain: DomainDetail | undefined): boolean {
  const account = useAccountId();
  const may = useMay();
  const client = useQueryClient();
  const enabled = domain !== undefined && domain.state !== 'verified' && may('domains:write');
  const path = { accountId: account, domain: domain?.domain ?? '' };
  useQuery({
    queryKey: [...keyOf(domainPath, path), 'live check'],
    queryFn: async () => {
      const checked = await api.post('/accounts/{accountId}/domains/{domain}/check', path);
      client.setQueryData(keyOf(domainPath, path), checked);
      return checked.checkedAt;
    },
    enabled,
    refetchInterval: liveCheckMs,
    retry: false,
    gcTime: 0,
  });
  return enabled;
}

interface VerificationProgressProps {
  domain: DomainDetail;
  /** The records are checked while the page is open. */
  live: boolean;
}

/** The progress of the verification. */
function VerificationProgress({ domain, live }: VerificationProgressProps) {
  const { records, checkedAt } = domain;
  const required = recordsNow(domain).filter((record) => record.required);
  const found = required.filter((record) => record.state === 'ok').length;
  const resolver = records.find((record) => record.resolver !== null)?.resolver;
  return (
    <div>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {text('domains.progress', { found, all: required.length })}
        </Text>
        <Text
          size="sm"
          c="dimmed"
          title={resolver == null ? undefined : text('domains.askedWith', { resolver })}
        >
          {checkedAt === null ? (
            text('domains.neverChecked')
          ) : (
            <>
              {text('domains.asked')} <TimeText value={checkedAt} as="distance" />
            </>
          )}
          {live && ` · ${text('domains.live')}`}
        </Text>
      </Group>
      {found > 0 && (
        <Progress
          mt={6}
          value={(found / required.length) * 100}
          aria-label={text('domains.records')}
        />
      )}
    </div>
  );
}

/** `other` shows full names, for providers whose boxes aren't known. */
type ProviderChoice = ProviderId | 'other';

/** What has to be corrected comes first. */
function byUrgency(a: DomainRecord, b: DomainRecord): number {
  return Number(b.state === 'wrong') - Number(a.state === 'wrong');
}

function Records({ domain }: { domain: DomainDetail }) {
  const { records, zone, dnsProvider } = domain;
  const now = recordsNow(domain);
  const later = records.filter((record) => !now.includes(record));
  const laterState = later.every(({ state }) => state === 'ok') ? 'laterFound' : 'later';
  const [chosen, setChosen] = useState<ProviderChoice>();
  const choice = chosen ?? dnsProvider ?? 'other';
  const provider = choice === 'other' ? undefined : choice;
  const card = (record: DomainRecord) => (
    <RecordCard
      key={`${record.kind} ${record.name} ${record.expected}`}
      record={record}
      provider={provider}
      zone={zone ?? undefined}
      ending={`.${zone ?? domain.domain}`}
    />
  );
  return (
    <section aria-labelledby="records">
      <Group justify="space-between" mb="xs">
        <Title order={2} id="records">
          {text('domains.records')}
        </Title>
        <Group>
          <NativeSelect
            className="provider"
            label={text('domains.provider')}
            value={choice}
            onChange={(event) => setChosen(event.currentTarget.value as ProviderChoice)}
            data={choicesOf([...providerNames, 'other' as const], (value) =>
              text(`domains.provider.${value}`),
            )}
          />
          <CopyButton value={zoneFile(now)} large>
            {text('domains.copyAll')}
          </CopyButton>
        </Group>
      </Group>
      <Text size="sm" mb="sm">
        {dnsProvider !== null &&
          chosen === undefined &&
          `${text('domains.provider.detected', {
            zone: zone ?? '',
            provider: text(`domains.provider.${dnsProvider}`),
          })} `}
        {text(`domains.providerHint.${choice}`)}
        {choice === 'other' && (
          <>
            {' '}
            <Code>.{zone ?? domain.domain}</Code>.
          </>
        )}
      </Text>
      <Stack gap="sm">{now.toSorted(byUrgency).map(card)}</Stack>
      {later.length > 0 && (
        <details className="records-later">
          <summary>
            {text(`domains.${laterState}`, { count: later.length })}
            <Note span size="sm">
              {text(`domains.${laterState}Hint`, { count: later.length })}
            </Note>
          </summary>
          <Stack gap="sm" mt="sm">
            {later.map(card)}
          </Stack>
        </details>
      )}
    </section>
  );
}

interface DomainProblemsProps {
  domain: DomainDetail;
  /** The records can be published first. */
  quiet?: boolean;
}

/** The settings that are missing for the records, in one notice. */
function DomainProblems({ domain: { problems, state }, quiet }: DomainProblemsProps) {
  const [first] = problems;
  if (first === undefined) return null;
  const isVerified = state === 'verified';
  if (quiet)
    return (
      <Note size="sm">
        {withCode(first.sentence)} {!isVerified && withCode(first.nextStep)}
      </Note>
    );
  if (problems.length === 1)
    return (
      <Alert color="yellow" title={withCode(first.sentence)}>
        {isVerified ? undefined : withCode(first.nextStep)}
      </Alert>
    );
  return (
    <Alert color="yellow" title={text('domains.incomplete')}>
      <List size="sm">
        {problems.map(({ setting, sentence, nextStep }) => (
          <List.Item key={setting}>
            {withCode(sentence)} {!isVerified && withCode(nextStep)}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** The actions of a domain: check, rotate keys, remove. */
function DomainActions({ domain: { domain, state } }: { domain: DomainDetail }) {
  const account = useAccountId();
  const may = useMay();
  const client = useQueryClient();
  const refresh = useRefresh('domains');
  const navigate = useNavigate();
  const rotation = useDialog();
  const removal = useDialog();
  const params = { accountId: account, domain };
  const show = (found: DomainDetail) => client.setQueryData(keyOf(domainPath, params), found);
  const check = useAction({
    mutationFn: () => api.post('/accounts/{accountId}/domains/{domain}/check', params),
    onSuccess(found) {
      show(found);
      const problems = requiredProblems(found);
      const allFound = recordsNow(found).every(
        ({ required, state }) => !required || state === 'ok',
      );
      if (problems !== undefined) showNotice(text(`domains.left.${problems.kind}`, problems));
      else showNotice(text(allFound ? 'domains.allFound' : 'domains.unknown'));
    },
  });
  async function rotate() {
    show(await api.post('/accounts/{accountId}/domains/{domain}/rotate-keys', params));
    showNotice(text('domains.rotated'));
  }

  async function remove() {
    await deleteUnchanged(domainPath, params, { state });
    await navigate({ to: '/$account/domains', params: { account } });
    await refresh();
  }

  if (!may('domains:write')) return null;
  return (
    <>
      <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
        {text('domains.check')}
      </Button>
      <RowMenu
        name={domain}
        items={[
          { label: text('domains.rotate'), choose: rotation.open },
          { label: text('remove'), color: 'red', choose: removal.open },
        ]}
        onPage
      />
      <ProblemAlert error={check.error} />
      <Confirm
        {...rotation.props}
        title={text('domains.rotateTitle')}
        consequence={text('domains.rotateHint')}
        action={text('domains.rotate')}
        confirm={rotate}
      />
      <ConfirmByName
        {...removal.props}
        title={text('domains.removeTitle')}
        consequence={text('domains.removeConsequence')}
        name={domain}
        action={text('remove')}
        confirm={remove}
      />
    </>
  );
}
