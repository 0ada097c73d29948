import { NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import { choicesOf } from '../components/choices-of.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { text } from '../texts/text.ts';

/** Hours that the old secret keeps working. */
const overlaps = [0, 1, 24, 168] as const;

interface RotateDialogProps {
  opened: boolean;
  close: () => void;
  title: string;
  texts: 'keys' | 'integrations';
  rotate: (overlapHours: number) => Promise<unknown>;
}

/** Replaces a secret; both work during the overlap. */
export function RotateDialog({ texts, rotate, ...dialog }: RotateDialogProps) {
  const [overlapHours, setOverlap] = useState<number>(24);
  return (
    <FormDialog {...dialog} action={text(`${texts}.rotate`)} submit={() => rotate(overlapHours)}>
      <Text size="sm">{text(`${texts}.rotateHint`)}</Text>
      <NativeSelect
        label={text(`${texts}.overlap`)}
        value={String(overlapHours)}
        onChange={(event) => setOverlap(Number(event.currentTarget.value))}
        data={choicesOf(overlaps, (hours) => text(`${texts}.overlap.${hours}`))}
      />
    </FormDialog>
  );
}
