import {
  Box,
  Button,
  Checkbox,
  Group,
  NativeSelect,
  NumberInput,
  Paper,
  Text,
  Title,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import { useMe } from '../account/use-me.ts';
import { EditConflict } from '../api/if-unchanged.ts';
import type { Account } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { Confirm } from '../components/confirm.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { SaveButton } from '../components/save-button.tsx';
import { text } from '../texts/text.ts';
import {
  type RetentionChoice,
  retentionChoices,
  useInstallationAccount,
} from './use-installation-account.ts';

type OperatorValues = Pick<Account, 'addOns' | 'attachmentLimit' | 'retentionDays'>;

const mebibyte = 1_024 * 1_024;
/** Checked here because the API's error is in bytes. */
const maxMebibytes = 25;

/** Account settings for operators. */
export function OperatorSettings() {
  const { account, error } = useInstallationAccount();
  const { data: me } = useMe();
  if (me?.operator !== true) return null;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="operate">
      <Title order={2} id="operate">
        {text('operate.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {text('operate.hint')}
      </Text>
      <ProblemAlert error={error} />
      {/* Reserves the space of the form while loading. */}
      <OperatorForm
        key={String(account === undefined)}
        stored={account ?? { addOns: [], attachmentLimit: null, retentionDays: 90 }}
        reading={account === undefined}
      />
    </Paper>
  );
}

function OperatorForm({ stored, reading }: { stored: OperatorValues; reading: boolean }) {
  const { save } = useInstallationAccount();
  const [seen, setSeen] = useState(stored);
  const [input, setInput] = useState(() => toInput(stored));
  const change = (part: Partial<typeof input>) => setInput({ ...input, ...part });
  const values = fromInput(input);

  function show(now: OperatorValues) {
    setSeen(now);
    setInput(toInput(now));
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isValid(input)) return;
    // The input stays, because it can be edited while it is saved.
    save.mutate(
      { seen, change: values },
      {
        onSuccess: ({ addOns, attachmentLimit, retentionDays }) =>
          setSeen({ addOns, attachmentLimit, retentionDays }),
        onError: mergeConflict,
      },
    );
  }

  /** After a conflict, the current values replace the input. */
  function mergeConflict(failure: unknown) {
    if (!(failure instanceof EditConflict)) return;
    const changes = failure.changes.filter(({ name }) => name in seen);
    show({ ...seen, ...Object.fromEntries(changes.map(({ name, now }) => [name, now])) });
  }

  return (
    <form onSubmit={submit}>
      <Box className="line" pb="sm">
        <Checkbox
          label={text('operate.transactional')}
          description={text('operate.transactionalHint')}
          checked={input.transactional}
          disabled={reading}
          onChange={({ currentTarget }) => change({ transactional: currentTarget.checked })}
        />
      </Box>
      <Box className="line" pt="sm" pb="md">
        <Checkbox
          label={text('operate.attachments')}
          description={text('operate.attachmentsHint')}
          checked={input.attachments}
          disabled={reading}
          onChange={({ currentTarget }) => change({ attachments: currentTarget.checked, size: '' })}
        />
        {input.attachments && (
          <NumberInput
            mt="sm"
            ml={32}
            maw={328}
            label={text('operate.size')}
            description={text('operate.sizeHint')}
            placeholder={text('operate.sizeDefault')}
            // Out-of-range numbers are rejected instead of being clamped.
            clampBehavior="none"
            value={input.size}
            onChange={(size) => change({ size })}
            error={
              isValid(input) ? reasonFor(save.error, 'attachmentLimit') : text('operate.sizeRange')
            }
            disabled={reading}
          />
        )}
      </Box>
      <Box className="line" pt="sm" pb="md">
        <NativeSelect
          maw={360}
          label={text('settings.retention')}
          description={text('operate.retentionHint')}
          value={String(input.retentionDays)}
          onChange={({ currentTarget }) =>
            change({ retentionDays: Number(currentTarget.value) as RetentionChoice })
          }
          error={reasonFor(save.error, 'retentionDays')}
          disabled={reading}
          data={retentionChoices.map((days) => ({
            value: String(days),
            label: text('settings.days', { count: days }),
          }))}
        />
      </Box>
      <SaveButton
        changed={
          values.retentionDays !== seen.retentionDays ||
          values.attachmentLimit !== seen.attachmentLimit ||
          String(values.addOns) !== String(seen.addOns)
        }
        saving={save.isPending}
      />
      <ProblemAlert error={save.error} onRefreshed={save.reset} />
    </form>
  );
}

/** The values as they are edited: the size in MiB, empty for the installation's limit. */
function toInput({ addOns, attachmentLimit, retentionDays }: OperatorValues) {
  return {
    transactional: addOns.includes('transactional'),
    attachments: attachmentLimit !== 0,
    size: (attachmentLimit ? attachmentLimit / mebibyte : '') as number | string,
    retentionDays: retentionDays as RetentionChoice,
  };
}

type OperatorInput = ReturnType<typeof toInput>;

function fromInput({ transactional, attachments, size, retentionDays }: OperatorInput) {
  const limit = size === '' ? null : Math.round(Number(size) * mebibyte);
  return {
    addOns: transactional ? (['transactional'] as const).slice() : [],
    attachmentLimit: attachments ? limit : 0,
    retentionDays,
  };
}

function isValid({ attachments, size }: OperatorInput): boolean {
  return !attachments || size === '' || (Number(size) > 0 && Number(size) <= maxMebibytes);
}

/** Suspends the account, or lifts that. */
export function SuspendCard() {
  const { account, save } = useInstallationAccount();
  const { data: me } = useMe();
  const [confirming, confirmation] = useDisclosure();
  if (me?.operator !== true) return null;
  const { suspended = false } = account ?? {};
  const suspend = (to: boolean) => save.mutate({ seen: { suspended }, change: { suspended: to } });
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="suspend" className="danger-zone">
      <Group justify="space-between">
        <div>
          <Title order={2} id="suspend">
            {text(suspended ? 'operate.suspended' : 'operate.active')}
          </Title>
          <Text size="sm" c="dimmed">
            {text(suspended ? 'operate.suspendedHint' : 'operate.activeHint')}
          </Text>
        </div>
        {/* Only suspending asks for confirmation. */}
        <Button
          variant="default"
          {...(!suspended && { className: 'destructive' })}
          disabled={account === undefined || save.isPending}
          onClick={() => (suspended ? suspend(false) : confirmation.open())}
        >
          {text(suspended ? 'operate.lift' : 'operate.suspend')}
        </Button>
      </Group>
      <ProblemAlert error={save.error} onRefreshed={save.reset} />
      <Confirm
        opened={confirming}
        close={confirmation.close}
        title={text('operate.suspendTitle')}
        consequence={text('operate.suspendConsequence')}
        action={text('operate.suspend')}
        dismiss={text('operate.keepActive')}
        destructive
        // The error is shown below.
        confirm={async () => suspend(true)}
      />
    </Paper>
  );
}
