import { ScrollArea, Skeleton, Stack, Table } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Column<Item> {
  readonly title: string;
  readonly cell: (item: Item) => ReactNode;
  /** Numbers stand at the right, so that they can be compared. */
  readonly numeric?: boolean;
}

interface RowsProps<Item> {
  /** What the table is about, for those who cannot see it. */
  label: string;
  items: readonly Item[];
  columns: readonly Column<Item>[];
  idOf: (item: Item) => string;
}

/** A table that scrolls by itself where the screen is too narrow for it. */
export function Rows<Item>({ label, items, columns, idOf }: RowsProps<Item>) {
  return (
    <ScrollArea
      type="auto"
      className="rows"
      viewportProps={{ tabIndex: 0, 'aria-label': label, role: 'region' }}
    >
      <Table highlightOnHover verticalSpacing="xs" aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ title, numeric }) => (
              <Table.Th key={title} ta={numeric ? 'right' : undefined}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => (
            <Table.Tr key={idOf(item)}>
              {columns.map(({ title, cell, numeric }) => (
                <Table.Td key={title} ta={numeric ? 'right' : undefined}>
                  {cell(item)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}

const placeholders = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Holds the place of a table that is being read. */
export function RowsSkeleton() {
  return (
    <Stack gap="xs" aria-hidden="true">
      {placeholders.map((name) => (
        <Skeleton key={name} height={36} />
      ))}
    </Stack>
  );
}
