import { Button, NativeSelect, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { ApiKey } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { text } from '../texts/text.ts';
import type { CreatedKey } from './api-key-dialog.tsx';

/** Hours that the old key keeps working. */
const overlaps = [0, 1, 24, 168] as const;

/** Replaces a key with an equivalent one; both work during the overlap. */
export function RotateKey({
  apiKey,
  show,
}: {
  apiKey: ApiKey;
  show: (created: CreatedKey) => void;
}) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const [opened, dialog] = useDisclosure();
  const [overlapHours, setOverlap] = useState<number>(24);

  async function submit() {
    const { key } = await api.post(
      '/accounts/{accountId}/keys/{keyId}/rotate',
      { accountId, keyId: apiKey.id },
      { overlapHours },
    );
    await client.invalidateQueries({ queryKey: ['keys', accountId] });
    show({ key, sampleTemplateId: undefined });
  }

  return (
    <>
      <Button size="compact-sm" variant="subtle" onClick={dialog.open}>
        {text('keys.rotate')}
      </Button>
      <FormDialog
        opened={opened}
        close={dialog.close}
        title={text('keys.rotateTitle', { name: apiKey.name })}
        action={text('keys.rotate')}
        submit={submit}
      >
        {() => (
          <>
            <Text size="sm">{text('keys.rotateHint')}</Text>
            <NativeSelect
              label={text('keys.overlap')}
              value={String(overlapHours)}
              onChange={(event) => setOverlap(Number(event.currentTarget.value))}
              data={overlaps.map((hours) => ({
                value: String(hours),
                label: text(`keys.overlap.${hours}`),
              }))}
            />
          </>
        )}
      </FormDialog>
    </>
  );
}
