import type { FaultDetail } from '../../base/values/errors.ts';

/** Max nesting depth, far above any valid body. RFC 8259 section 9 allows a limit. */
const maxDepth = 64;
/** Max characters of a path in a response: names come from the body, and one can prefix thousands of values. */
const maxPathCharacters = 300;

/** A value's place within its parent. The path is built only when there is a problem to report. */
interface PathNode {
  readonly parent: PathNode | undefined;
  readonly name: string | number;
}

/**
 * Finds strings and member names in parsed JSON that contain NUL or an unpaired surrogate, which can't be stored or
 * sent. Valid JSON can only contain them as `\u` escapes, so a text without escapes can skip this. Runs in linear time;
 * values nested deeper than 64 levels are reported but not searched.
 * @param maxProblems stop after this many
 * @param maxValues max members and array items, nested ones included; a larger value is only reported as such
 */
export function findInvalidText(
  root: unknown,
  maxProblems = Number.POSITIVE_INFINITY,
  maxValues = Number.POSITIVE_INFINITY,
): FaultDetail[] {
  const details: FaultDetail[] = [];
  let values = -1;
  visit(root, undefined, 1);
  if (values <= maxValues) return details;
  return [{ field: '', reason: `has more than ${maxValues} values; send fewer at once` }];

  function visit(value: unknown, place: PathNode | undefined, level: number): void {
    values += 1;
    if (details.length >= maxProblems || values > maxValues) return;
    if (typeof value === 'string') {
      const reason = describeProblem(value);
      if (reason !== undefined) details.push({ field: pathOf(place), reason });
    } else if (typeof value === 'object' && value !== null) {
      if (level > maxDepth)
        details.push({ field: pathOf(place), reason: `is nested deeper than ${maxDepth} levels` });
      else visitMembers(value, place, level + 1);
    }
  }

  function visitMembers(value: object, parent: PathNode | undefined, level: number): void {
    if (Array.isArray(value)) {
      value.forEach((entry, name) => {
        visit(entry, { parent, name }, level);
      });
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      const place = { parent, name };
      const reason = describeProblem(name);
      if (reason !== undefined)
        details.push({ field: pathOf(place), reason: `its name ${reason}` });
      visit(member, place, level);
    }
  }
}

function describeProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  return text.isWellFormed() ? undefined : 'contains an unpaired surrogate';
}

/** The path as shown in a response. Keeps the end of a long one, which says the most. */
function pathOf(place: PathNode | undefined): string {
  let path = '';
  for (let at = place; at !== undefined && path.length <= maxPathCharacters; at = at.parent) {
    const { name, parent } = at;
    const step = typeof name === 'number' ? `[${name}]` : name.slice(-maxPathCharacters - 1);
    path = `${typeof name === 'number' || parent === undefined ? '' : '.'}${step}${path}`;
  }
  const cut = path.length > maxPathCharacters ? `…${path.slice(-maxPathCharacters)}` : path;
  return cut.replaceAll('\0', '\u{fffd}').toWellFormed();
}
