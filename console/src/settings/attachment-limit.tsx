import { NumberInput, SimpleGrid } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { EditConflict } from '../api/if-unchanged.ts';
import { reasonFor } from '../api/problem.ts';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { SaveButton } from '../components/save-button.tsx';
import { text } from '../texts/text.ts';
import { useInstallationAccount } from './use-installation-account.ts';

const mebibyte = 1_024 * 1_024;
/** Checked here because the API's error is in bytes. */
const maxMebibytes = 25;

function toInput(bytes: number | null): number | string {
  return bytes === null ? '' : bytes / mebibyte;
}

function isValid(limit: number | string): boolean {
  return Number(limit) >= 0 && Number(limit) <= maxMebibytes;
}

/** How large a message with attachments can be, in MiB. @param current in bytes; null: the installation's limit */
export function AttachmentLimit({ current }: { current: number | null }) {
  const { save } = useInstallationAccount();
  const [seen, setSeen] = useState(current);
  const [limit, setLimit] = useState(() => toInput(current));

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isValid(limit)) return;
    const attachmentLimit = limit === '' ? null : Math.round(Number(limit) * mebibyte);
    save.mutate(
      { seen: { attachmentLimit: seen }, change: { attachmentLimit } },
      { onSuccess: (saved) => setSeen(saved.attachmentLimit), onError: mergeConflict },
    );
  }

  /** After a conflict, the current limit replaces the input. */
  function mergeConflict(failure: unknown) {
    if (!(failure instanceof EditConflict)) return;
    const change = failure.changes.find(({ name }) => name === 'attachmentLimit');
    if (change === undefined) return;
    const now = change.now as number | null;
    setSeen(now);
    setLimit(toInput(now));
  }

  const error = isValid(limit)
    ? reasonFor(save.error, 'attachmentLimit')
    : text('operate.attachmentsRange');
  return (
    <form onSubmit={submit}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} mb="md">
        <NumberInput
          label={text('operate.attachments')}
          description={text('operate.attachmentsHint')}
          placeholder={text('operate.attachmentsDefault')}
          // Out-of-range numbers are rejected instead of being clamped.
          clampBehavior="none"
          value={limit}
          onChange={setLimit}
          error={error}
        />
      </SimpleGrid>
      <SaveButton changed={limit !== toInput(seen)} saving={save.isPending}>
        {text('operate.attachmentsSave')}
      </SaveButton>
      <ProblemAlert error={save.error} onRefreshed={save.reset} />
    </form>
  );
}
