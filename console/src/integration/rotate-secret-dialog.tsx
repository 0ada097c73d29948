import { NativeSelect, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { ClientSecret } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { text } from '../texts/text.ts';

/** Hours that the old secret keeps working. */
const overlaps = [0, 1, 24, 168] as const;

interface RotateSecretDialogProps {
  opened: boolean;
  close: () => void;
  clientId: string;
  show: (secret: ClientSecret) => void;
}

/** Rotates a client secret; both work during the overlap. */
export function RotateSecretDialog({ clientId, show, ...dialog }: RotateSecretDialogProps) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const [overlapHours, setOverlap] = useState<number>(24);

  async function submit() {
    const secret = await api.post(
      '/accounts/{accountId}/integrations/{clientId}/secret',
      { accountId, clientId },
      { overlapHours },
    );
    await client.invalidateQueries({ queryKey: ['integrations', accountId] });
    show(secret);
  }

  return (
    <FormDialog
      {...dialog}
      title={text('integrations.rotate')}
      action={text('integrations.rotate')}
      submit={submit}
    >
      {() => (
        <>
          <Text size="sm">{text('integrations.rotateHint')}</Text>
          <NativeSelect
            label={text('integrations.overlap')}
            value={String(overlapHours)}
            onChange={(event) => setOverlap(Number(event.currentTarget.value))}
            data={overlaps.map((hours) => ({
              value: String(hours),
              label: text(`integrations.overlap.${hours}`),
            }))}
          />
        </>
      )}
    </FormDialog>
  );
}
