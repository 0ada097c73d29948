import {
  Box,
  Button,
  Checkbox,
  Group,
  NativeSelect,
  NumberInput,
  Paper,
  Title,
} from '@mantine/core';
import { useMe } from '../account/use-me.ts';
import type { Account } from '../api/management.generated.ts';
import { localProblem, reasonFor } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { choicesOf } from '../components/choices-of.ts';
import { Confirm } from '../components/confirm.tsx';
import { Note } from '../components/note.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { SaveButton } from '../components/save-button.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { useForm } from '../form/use-form.ts';
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
    <SectionCard id="operate" title={text('operate.title')} hint={text('operate.hint')}>
      <ProblemAlert error={error} />
      <OperatorForm account={account} />
    </SectionCard>
  );
}

const noValues: OperatorValues = { addOns: [], attachmentLimit: null, retentionDays: 90 };

/** Shows no values while the account loads, to reserve its space. */
function OperatorForm({ account }: { account: Account | undefined }) {
  const { update, reload } = useInstallationAccount();
  const { values, change, changed, saving, error, submit, reset } = useForm({
    stored: account ?? noValues,
    toValues: toInput,
    save({ values, seen }) {
      if (!isValid(values)) throw localProblem('attachmentLimit', text('operate.sizeRange'));
      return update(fromInput(seen), fromInput(values));
    },
    reload,
  });
  const reading = account === undefined;

  return (
    <form onSubmit={submit}>
      <Box className="line" pb="sm">
        <Checkbox
          label={text('operate.transactional')}
          description={text('operate.transactionalHint')}
          checked={values.transactional}
          disabled={reading}
          onChange={({ currentTarget }) => change({ transactional: currentTarget.checked })}
        />
      </Box>
      <Box className="line" pt="sm" pb="md">
        <Checkbox
          label={text('operate.attachments')}
          description={text('operate.attachmentsHint')}
          checked={values.attachments}
          disabled={reading}
          onChange={({ currentTarget }) => change({ attachments: currentTarget.checked, size: '' })}
        />
        {values.attachments && (
          <NumberInput
            mt="sm"
            ml={32}
            maw={328}
            label={text('operate.size')}
            description={text('operate.sizeHint')}
            placeholder={text('operate.sizeDefault')}
            // Out-of-range numbers are rejected instead of being clamped.
            clampBehavior="none"
            value={values.size}
            onChange={(size) => change({ size })}
            error={reasonFor(error, 'attachmentLimit')}
            disabled={reading}
          />
        )}
      </Box>
      <Box className="line" pt="sm" pb="md">
        <NativeSelect
          maw={360}
          label={text('settings.retention')}
          description={text('operate.retentionHint')}
          value={String(values.retentionDays)}
          onChange={({ currentTarget }) =>
            change({ retentionDays: Number(currentTarget.value) as RetentionChoice })
          }
          error={reasonFor(error, 'retentionDays')}
          disabled={reading}
          data={choicesOf(retentionChoices, (days) => text('settings.days', { count: days }))}
        />
      </Box>
      <SaveButton changed={changed} saving={saving} />
      <ProblemAlert error={error} onRefreshed={reset} />
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
  const { account, update, reload } = useInstallationAccount();
  const { data: me } = useMe();
  const confirmation = useDialog();
  const { suspended = false } = account ?? {};
  const save = useAction({
    mutationFn: (to: boolean) => update({ suspended }, { suspended: to }),
    onSettled: reload,
  });
  if (me?.operator !== true) return null;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="suspend" className="danger-zone">
      <Group justify="space-between">
        <div>
          <Title order={2} id="suspend">
            {text(suspended ? 'operate.suspended' : 'operate.active')}
          </Title>
          <Note size="sm">{text(suspended ? 'operate.suspendedHint' : 'operate.activeHint')}</Note>
        </div>
        {/* Only suspending asks for confirmation. */}
        <Button
          variant="default"
          {...(!suspended && { className: 'destructive' })}
          disabled={account === undefined || save.isPending}
          onClick={() => (suspended ? save.mutate(false) : confirmation.open())}
        >
          {text(suspended ? 'operate.lift' : 'operate.suspend')}
        </Button>
      </Group>
      <ProblemAlert error={save.error} onRefreshed={save.reset} />
      <Confirm
        {...confirmation.props}
        title={text('operate.suspendTitle')}
        consequence={text('operate.suspendConsequence')}
        action={text('operate.suspend')}
        dismiss={text('operate.keepActive')}
        destructive
        // The error is shown below.
        confirm={async () => save.mutate(true)}
      />
    </Paper>
  );
}
