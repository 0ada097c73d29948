/** An invalid query; the message names the parameter. */
export class ListQueryError extends Error {
  override name = 'ListQueryError';
}

/** A parsed listing request. */
export interface ListQuery {
  readonly count: number;
  readonly offset: number;
  /** False for the types that are never stored: their listing is empty. */
  readonly contactLists: boolean;
}

const contactList = 'CONTACT_LIST';

/** Types that exist in the contract but are never stored. */
const otherTypes = new Set([
  'HEADER',
  'FOOTER',
  'SENDER',
  'MEDIA',
  'PAGES',
  'CUSTOM_EVENTS',
  'TEMPLATE_MESSAGE',
  'DRAFT_MESSAGE',
  'LANDING_PAGE',
  'SENT_MESSAGE',
  'TRIGGERED_MESSAGE',
  'TEST_MESSAGE',
  'FAILED_MESSAGE',
  'SCHEDULED_MESSAGE',
]);

const maxCount = 1_000;
const defaultCount = 100;
const maxOffset = 2_147_483_647;

/**
 * Parses the parameters of `GET /api/1/list`: names and the values of `listingtype` are case-insensitive, an empty
 * value means "not given", unknown parameters are ignored.
 * @throws ListQueryError if a value is out of range or a parameter is repeated
 */
export function parseListQuery(query: Readonly<Record<string, unknown>>): ListQuery {
  const read = (name: string): string | undefined => {
    const values = Object.entries(query)
      .filter(([given]) => given.toLowerCase() === name)
      .flatMap(([, value]) => value);
    if (values.length > 1) throw new ListQueryError(`${name} is given more than once`);
    const [value] = values;
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return {
    count: readNumber('count', read('count'), defaultCount, 1, maxCount),
    offset: readNumber('offset', read('offset'), 0, 0, maxOffset),
    contactLists: readType(read('listingtype')),
  };
}

function readNumber(
  name: string,
  text: string | undefined,
  defaultValue: number,
  min: number,
  max: number,
): number {
  if (text === undefined) return defaultValue;
  const number = Number(text);
  if (!/^\d{1,10}$/.test(text) || number < min || number > max)
    throw new ListQueryError(`${name} must be a whole number from ${min} to ${max}`);
  return number;
}

function readType(text = contactList): boolean {
  const type = text.toUpperCase();
  if (type === contactList) return true;
  if (otherTypes.has(type)) return false;
  throw new ListQueryError(`listingtype must be one of ${[contactList, ...otherTypes].join(', ')}`);
}
