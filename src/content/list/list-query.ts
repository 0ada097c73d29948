import { readQueryParameter } from '../../host/http/query-parameter.ts';

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

/** Numeric parameters with their bounds and defaults, also used for the OpenAPI document. */
export const listNumbers = {
  count: { minimum: 1, maximum: 1_000, default: 100, what: 'Max lists to return.' },
  offset: {
    minimum: 0,
    maximum: 2_147_483_647,
    default: 0,
    what: 'Lists to skip.',
  },
} as const;

/**
 * Parses the parameters of `GET /api/1/list`. Names and the values of `listingtype` are case-insensitive, an empty value
 * is treated as absent, and unknown parameters are ignored.
 * @throws ListQueryError if a value is out of range or a parameter is repeated
 */
export function parseListQuery(query: Readonly<Record<string, unknown>>): ListQuery {
  const read = (name: string): string | undefined =>
    readQueryParameter(query, name, () => new ListQueryError(`${name} is given more than once`));
  return {
    count: readNumber('count', read('count')),
    offset: readNumber('offset', read('offset')),
    contactLists: readType(read('listingtype')),
  };
}

function readNumber(name: keyof typeof listNumbers, text: string | undefined): number {
  const { minimum, maximum, default: defaultNumber } = listNumbers[name];
  if (text === undefined) return defaultNumber;
  const number = Number(text);
  if (!/^\d{1,10}$/.test(text) || number < minimum || number > maximum)
    throw new ListQueryError(`${name} must be a whole number from ${minimum} to ${maximum}`);
  return number;
}

function readType(text = contactList): boolean {
  const type = text.toUpperCase();
  if (type === contactList) return true;
  if (otherTypes.has(type)) return false;
  throw new ListQueryError(`listingtype must be one of ${[contactList, ...otherTypes].join(', ')}`);
}
