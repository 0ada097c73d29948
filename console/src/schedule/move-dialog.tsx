import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { localProblem, reasonFor } from '../api/problem.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { text } from '../texts/text.ts';
import { toLocalInput } from './schedule-filters.ts';

interface MoveDialogProps {
  close: () => void;
  title: string;
  /** The current send time; empty if there are several. */
  sendAt: string;
  move: (sendAt: string) => Promise<unknown>;
}

/** Asks for a send time, in the person's time zone. */
export const MoveDialog = dialogOf(MoveForm, ({ title }) => title);

function MoveForm({ close, sendAt, move }: MoveDialogProps) {
  const [value, setValue] = useState(sendAt === '' ? '' : toLocalInput(sendAt));
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

  async function submit() {
    const time = new Date(value);
    if (Number.isNaN(time.getTime())) throw localProblem('sendAt', text('schedule.timeMissing'));
    await move(time.toISOString());
  }

  return (
    <DialogForm close={close} action={text('schedule.move')} submit={submit}>
      {(error) => (
        <TextInput
          type="datetime-local"
          label={text('schedule.sendAt')}
          description={text('schedule.moveHint', { zone })}
          required
          data-autofocus
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
          error={reasonFor(error, 'sendAt')}
        />
      )}
    </DialogForm>
  );
}
