import { Fragment } from 'react';

/** A text whose addresses and names of hosts may break before @ and dots, rather than inside a word. */
export function withBreaks(title: string) {
  return title.split(/(?=[@.]\w)/).map((part, index, parts) => (
    <Fragment key={parts.slice(0, index).join('')}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
