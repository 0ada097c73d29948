import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { PersonId } from '../../base/values/ids.ts';

/**
 * The token of a mailed link, derived from the mail's ID and the installation's key: any node can write a waiting email
 * at any time, and the database never contains its link. 256 bits in base64url.
 * @param mailId the id of the row in `system_mail`
 */
export function mailedLinkToken(key: MasterKey, mailId: string): string {
  return key.keysFor('mailed link').signText(mailId);
}

const lifetimeMs = 7 * 86_400_000;
const tokenPattern = /^([0-9a-f-]{36})\.(\d{1,15})\.([A-Za-z0-9_-]{43})$/;

/** Path of the page that ends a person's sessions, before the token. */
export const endSessionsPath = '/end-sessions';

/** Signed tokens of links in security notices: anyone who has one can sign its person out everywhere for a week. */
export class EndSessionsLinks {
  readonly #keys: PurposeKeys;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(key: MasterKey, clock: Pick<Clock, 'now'>) {
    this.#keys = key.keysFor('end sessions');
    this.#clock = clock;
  }

  token(personId: PersonId): string {
    const issued = String(Math.floor(this.#clock.now()));
    return `${personId}.${issued}.${this.#keys.signText(`${personId}\0${issued}`)}`;
  }

  /** Whose sessions a token ends; undefined if it isn't valid or has expired. */
  read(token: string): PersonId | undefined {
    const [, personId = '', issued = '', sent = ''] = tokenPattern.exec(token) ?? [];
    if (Number(issued) < this.#clock.now() - lifetimeMs) return undefined;
    const isValid = this.#keys.verifyText(`${personId}\0${issued}`, sent);
    return isValid ? (personId as PersonId) : undefined;
  }
}
