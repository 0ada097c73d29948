import type { ReactNode } from 'react';
import { text } from '../texts/text.ts';
import { ListBody, type ListBodyProps } from './list-body.tsx';
import { PageHeading } from './page-heading.tsx';

interface AreaListProps<Item> extends Omit<ListBodyProps<Item>, 'label' | 'empty'> {
  /** Whose texts and icon the page has. */
  area: 'domains' | 'integrations' | 'keys' | 'lists' | 'outboxes' | 'senders' | 'webhooks';
  /** The button that adds one. */
  add: ReactNode;
  /** Below the list. */
  children?: ReactNode;
}

/** A page that lists the resources of an area, and adds more. */
export function AreaList<Item>({ area, add, children, ...list }: AreaListProps<Item>) {
  return (
    <>
      <PageHeading title={text(`nav.${area}`)} hint={text(`${area}.hint`)}>
        {add}
      </PageHeading>
      <ListBody
        {...list}
        label={text(`nav.${area}`)}
        empty={{
          icon: area,
          title: text(`${area}.none`),
          hint: text(`${area}.noneHint`),
          action: add,
        }}
      />
      {children}
    </>
  );
}
