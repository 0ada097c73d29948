import { Fragment } from 'react';

/** Text whose email addresses and host names break before @ and dots instead of inside a word. */
export function withBreaks(title: string) {
  return title.split(/(?=[@.]\w)/).map((part, index, parts) => (
    <Fragment key={parts.slice(0, index).join('')}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
