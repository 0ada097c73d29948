import type { ReactNode } from 'react';
import { EmptyState } from './empty-state.tsx';
import type { IconName } from './icon.tsx';
import { LoadMore, type Pages } from './load-more.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import { type Column, Rows } from './rows.tsx';
import { RowsSkeleton } from './rows-skeleton.tsx';

export interface ListBodyProps<Item> {
  label: string;
  /** Of a list that loads page by page or at once. */
  pages: Partial<Pages> & {
    readonly items: readonly Item[];
    readonly error: unknown;
    readonly isPending: boolean;
    readonly dataUpdatedAt?: number;
    refetch(): unknown;
  };
  columns: readonly Column<Item>[];
  idOf: (item: Item) => string;
  /** As in `Rows`. */
  compact?: boolean;
  /** As in `Rows`. */
  headingOf?: (item: Item) => string;
  /** As in `Rows`. */
  below?: (item: Item) => ReactNode;
  empty: {
    readonly title: string;
    readonly hint: ReactNode;
    readonly action?: ReactNode;
    readonly icon?: IconName;
  };
}

/** A list in any state: loading, failed, empty, loaded, or with more pages. */
export function ListBody<Item>(props: ListBodyProps<Item>) {
  const { label, pages, columns, idOf, compact, headingOf, below, empty } = props;
  const { items } = pages;
  if (pages.error !== null && items.length === 0)
    return <ProblemAlert error={pages.error} retry={() => pages.refetch()} />;
  if (pages.isPending) return <RowsSkeleton />;
  if (items.length === 0 && !pages.hasNextPage)
    return (
      <EmptyState title={empty.title} hint={empty.hint} icon={empty.icon}>
        {empty.action}
      </EmptyState>
    );
  return (
    <>
      <ProblemAlert
        error={pages.error}
        shownFrom={pages.dataUpdatedAt}
        retry={() => pages.refetch()}
      />
      <Rows
        label={label}
        items={items}
        columns={columns}
        idOf={idOf}
        compact={compact}
        headingOf={headingOf}
        below={below}
      />
      <LoadMore pages={pages} />
    </>
  );
}
