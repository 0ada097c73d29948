import type { AuditStore, RequestOrigin } from '../../audit/audit-store.ts';
import type { PageCall } from '../browser/page-door.ts';
import type { Passkeys } from '../passkey/passkeys.ts';
import type { PasswordAuthenticator } from '../password-authenticator.ts';
import type { RecoveryCodes } from '../recovery-codes.ts';
import type { SecondFactors } from '../second-factor.ts';

export interface ConfirmationDependencies {
  readonly passwordAuthenticator: PasswordAuthenticator;
  readonly secondFactors: SecondFactors;
  readonly recoveryCodes: RecoveryCodes;
  readonly passkeys: Passkeys;
  readonly audit: AuditStore;
}

/** How a signed-in person proves again who they are: a passkey's response, or else the password and, if needed, a code. */
export interface ConfirmationProof {
  readonly passkey: string | undefined;
  readonly password: string | undefined;
  /** Of the authenticator app, or a recovery code. */
  readonly code: string | undefined;
}

/** Checks who uses a session before a sensitive change. It takes as much as signing in. */
export class Confirmation {
  readonly #dependencies: ConfirmationDependencies;

  constructor(dependencies: ConfirmationDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws SlowDown if guesses come too fast, TemporarilyUnavailable if too many passwords are waiting */
  async check(
    visit: Pick<PageCall, 'csrf' | 'person'>,
    origin: RequestOrigin,
    proof: ConfirmationProof,
  ): Promise<boolean> {
    const { personId } = visit.person;
    const isRight =
      proof.passkey === undefined
        ? await this.#checkPassword(visit, origin, proof)
        : (await this.#dependencies.passkeys.verify(
            { purpose: 'confirm', csrf: visit.csrf, personId },
            proof.passkey,
          )) === personId;
    await this.#dependencies.audit.record({
      kind: 'sign_in_confirmed',
      outcome: isRight ? 'success' : 'refused',
      personId,
      origin,
      detail: proof.passkey === undefined ? {} : { passkey: true },
    });
    return isRight;
  }

  async #checkPassword(
    { person }: Pick<PageCall, 'person'>,
    { remoteAddress }: RequestOrigin,
    { password, code = '' }: ConfirmationProof,
  ): Promise<boolean> {
    const { passwordAuthenticator, secondFactors, recoveryCodes } = this.#dependencies;
    const { personId, email } = person;
    const origin = { kind: 'session', remoteAddress } as const;
    const result = await passwordAuthenticator.authenticate(email, password ?? '', origin);
    if (result.person?.id !== personId) return false;
    if (!(await secondFactors.has(personId))) return true;
    // Six digits come from the authenticator app; anything else can only be a recovery code.
    return /^[\d ]+$/.test(code)
      ? secondFactors.verify(personId, code, origin)
      : recoveryCodes.consume(personId, code, origin);
  }
}
