import { createHmac } from 'node:crypto';
import type { MasterKey } from '../foundation/master-key.ts';
import type { PurposeKeys } from '../foundation/purpose-keys.ts';

/**
 * Tokens of mailed links, derived from the mail's ID and the installation's key: any node can write a waiting email
 * at any time, and the database never contains its link. 256 bits in base64url.
 */
export class MailedLinks {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor('mailed link');
  }

  /** @param mailId the id of the row in `system_mail` */
  token(mailId: string): string {
    return createHmac('sha256', this.#keys.current).update(mailId).digest('base64url');
  }
}
