import { type Role, roles } from '../account/account.ts';
import { normalizeAddress, parseEmailAddress } from '../foundation/email-address.ts';
import { OperatorError } from '../foundation/errors.ts';
import { isLonger } from '../foundation/is-longer.ts';

const maxNameLength = 200;

/** @throws OperatorError if invalid */
export function readUserAddress(text: string): string {
  const parsed = parseEmailAddress(text);
  if (!parsed.ok) throw new OperatorError(`The email address "${text}" ${parsed.reason}.`);
  return normalizeAddress(parsed.address);
}

/** @throws OperatorError if unknown */
export function readRole(text: string): Role {
  const role = roles.find((known) => known === text);
  if (role === undefined)
    throw new OperatorError(`--role must be one of ${roles.join(', ')}, not "${text}".`);
  return role;
}

/** @throws OperatorError if blank or too long */
export function readName(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!/\S/.test(text) || isLonger(text, maxNameLength) || /\p{Cc}/u.test(text))
    throw new OperatorError(`--name must have 1 to ${maxNameLength} printable characters.`);
  return text.trim();
}
