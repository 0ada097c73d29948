import { Table } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';

export interface Column<Item> {
  readonly title: string;
  readonly cell: (item: Item) => ReactNode;
  /** Right-aligned, for numbers. */
  readonly numeric?: boolean;
  /** Not shown on phones. */
  readonly secondary?: boolean;
  /** The actions of a row: last column, without a visible header. */
  readonly actions?: boolean;
}

interface RowsProps<Item> {
  /** The accessible name of the table. */
  label: string;
  items: readonly Item[];
  columns: readonly Column<Item>[];
  idOf: (item: Item) => string;
  /** On phones two lines per row, without titles. */
  compact?: boolean;
  /** Rows with the same heading follow each other below it. */
  headingOf?: ((item: Item) => string) | undefined;
  /** Shown below the row of an item, if anything. */
  below?: ((item: Item) => ReactNode) | undefined;
}

/**
 * A table that scrolls horizontally on narrow screens. On phones each row becomes a card with titles next to values; ARIA roles
 * keep it a table for screen readers.
 */
export function Rows<Item>(props: RowsProps<Item>) {
  const { label, items, columns, idOf, compact, headingOf, below } = props;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it with the arrow keys
    <section className="rows" data-compact={compact} aria-label={label} tabIndex={0}>
      <Table highlightOnHover aria-label={label} role="table">
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map((column) => (
              <Table.Th
                key={column.title}
                role="columnheader"
                ta={alignmentOf(column)}
                data-numeric={column.numeric}
              >
                <span className={column.actions ? 'visually-hidden' : undefined}>
                  {column.title}
                </span>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {items.map((item, index) => (
            <Fragment key={idOf(item)}>
              <RowHeading
                columns={columns.length}
                heading={headingOf?.(item)}
                previous={items[index - 1] && headingOf?.(items[index - 1] as Item)}
              />
              <Table.Tr role="row">
                {columns.map((column) => (
                  <Table.Td
                    key={column.title}
                    role="cell"
                    ta={alignmentOf(column)}
                    data-title={column.actions ? undefined : column.title}
                    data-actions={column.actions}
                    data-numeric={column.numeric}
                    data-secondary={column.secondary}
                  >
                    {column.cell(item)}
                  </Table.Td>
                ))}
              </Table.Tr>
              <RowBelow columns={columns.length}>{below?.(item)}</RowBelow>
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

interface RowHeadingProps {
  columns: number;
  heading: string | undefined;
  /** The heading of the row before. */
  previous: string | undefined;
}

function RowHeading({ columns, heading, previous }: RowHeadingProps) {
  if (heading === undefined || heading === previous) return null;
  return (
    <Table.Tr role="row" className="row-heading">
      <Table.Td role="cell" colSpan={columns}>
        {heading}
      </Table.Td>
    </Table.Tr>
  );
}

function RowBelow({ columns, children }: { columns: number; children: ReactNode }) {
  if (children === undefined || children === null || children === false) return null;
  return (
    <Table.Tr role="row">
      <Table.Td role="cell" colSpan={columns}>
        {children}
      </Table.Td>
    </Table.Tr>
  );
}

function alignmentOf({ numeric, actions }: Column<never>): 'right' | undefined {
  return numeric || actions ? 'right' : undefined;
}
