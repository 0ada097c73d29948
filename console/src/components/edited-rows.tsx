import { ActionIcon, Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

interface EditedRowsProps<Row> {
  rows: readonly Row[];
  change: (rows: Row[]) => void;
  /** A row to fill in. */
  blank: Row;
  add: string;
  /** The accessible name of the button that removes a row. @param number from 1 */
  remove: (number: number) => string;
  /** The fields of a row. */
  children: (row: Row, set: (part: Partial<Row>) => void, number: number) => ReactNode;
}

/** Rows of fields, to which others can be added. */
export function EditedRows<Row>(props: EditedRowsProps<Row>) {
  const { rows, change, blank, add, remove, children } = props;
  return (
    <Stack gap="xs" mt={4}>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity
        <Group key={index} gap="xs" wrap="nowrap" align="flex-start">
          {children(row, (part) => change(rows.with(index, { ...row, ...part })), index + 1)}
          <ActionIcon
            variant="subtle"
            color="gray"
            size="input-sm"
            aria-label={remove(index + 1)}
            onClick={() => change(rows.toSpliced(index, 1))}
          >
            <Icon name="trash" />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<Icon name="plus" size={16} />}
          onClick={() => change([...rows, blank])}
        >
          {add}
        </Button>
      </Group>
    </Stack>
  );
}
