import type { Detail } from '../foundation/errors.ts';

/**
 * Finds strings and member names of a parsed JSON value that hold NUL or an unpaired surrogate: neither can be stored
 * as text nor sent. They can stand in valid JSON only as `\u` escapes, so a text without those need not be searched.
 * Walks without recursion, however deep the value is nested.
 */
export function findBadText(root: unknown): Detail[] {
  const details: Detail[] = [];
  const pending: [field: string, value: unknown][] = [['', root]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [field, value] = next;
    if (typeof value === 'string') {
      const reason = reasonAgainst(value);
      if (reason !== undefined) details.push({ field, reason });
    } else if (Array.isArray(value)) {
      value.forEach((entry, index) => {
        pending.push([`${field}[${index}]`, entry]);
      });
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        const path = field === '' ? name : `${field}.${name}`;
        const reason = reasonAgainst(name);
        if (reason !== undefined) details.push({ field: mend(path), reason: `its name ${reason}` });
        pending.push([mend(path), member]);
      }
    }
  }
  return details.reverse();
}

function reasonAgainst(text: string): string | undefined {
  if (text.includes('\0')) return 'holds a NUL character';
  return text.isWellFormed() ? undefined : 'holds half of a surrogate pair';
}

/** The path in a form that can be answered. */
function mend(path: string): string {
  return path.replaceAll('\0', '\u{fffd}').toWellFormed();
}
