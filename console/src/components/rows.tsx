import { ScrollArea, Skeleton, Stack, Table, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Column<Item> {
  readonly title: string;
  readonly cell: (item: Item) => ReactNode;
  /** Numbers stand at the right, so that they can be compared. */
  readonly numeric?: boolean;
  /** What can be done with the item: at the right end, under no visible title. */
  readonly actions?: boolean;
}

interface RowsProps<Item> {
  /** What the table is about, for those who cannot see it. */
  label: string;
  items: readonly Item[];
  columns: readonly Column<Item>[];
  idOf: (item: Item) => string;
}

/**
 * A table that scrolls by itself where the screen is too narrow for it. On a phone each row is a card with the titles
 * beside the values; the roles say to screen readers that it is a table nevertheless.
 */
export function Rows<Item>({ label, items, columns, idOf }: RowsProps<Item>) {
  return (
    <ScrollArea
      type="auto"
      className="rows"
      viewportProps={{ tabIndex: 0, 'aria-label': label, role: 'region' }}
    >
      <Table highlightOnHover aria-label={label} role="table">
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map((column) => (
              <Table.Th key={column.title} role="columnheader" ta={alignmentOf(column)}>
                {column.actions ? <VisuallyHidden>{column.title}</VisuallyHidden> : column.title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {items.map((item) => (
            <Table.Tr key={idOf(item)} role="row">
              {columns.map((column) => (
                <Table.Td
                  key={column.title}
                  role="cell"
                  ta={alignmentOf(column)}
                  data-title={column.actions ? undefined : column.title}
                  data-actions={column.actions}
                >
                  {column.cell(item)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}

function alignmentOf({ numeric, actions }: Column<never>): 'right' | undefined {
  return numeric || actions ? 'right' : undefined;
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
