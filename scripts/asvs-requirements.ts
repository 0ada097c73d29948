/** A requirement of OWASP ASVS 4.0.3 at level 3, in our words, and whether the service meets it. */
export interface AsvsRequirement {
  readonly id: string;
  readonly what: string;
  /** Part of the title of a test that fails if it isn't met. */
  readonly test?: string;
  /** Why it isn't met. */
  readonly reason?: string;
  /** Why it doesn't apply. */
  readonly inapplicable?: string;
}

const met = (id: string, what: string, test: string): AsvsRequirement => ({ id, what, test });
const notMet = (id: string, what: string, reason: string): AsvsRequirement => ({
  id,
  what,
  reason,
});

const inapplicable = (id: string, what: string, why: string): AsvsRequirement => ({
  id,
  what,
  inapplicable: why,
});

/** All of chapters 2 (authentication) and 3 (session management). */
export const asvsRequirements: readonly AsvsRequirement[] = [
  met('2.1.1', 'passwords have at least 12 characters', 'a mailed link sets a new password, once'),
  notMet(
    '2.1.2',
    'up to 64 characters are accepted, and over 128 refused',
    'up to 1,000 are accepted; longer passwords don’t noticeably slow down hashing',
  ),
  met('2.1.3', 'passwords aren’t truncated', 'a password matches only its own hash'),
  met('2.1.4', 'any Unicode character is accepted', 'ASVS 4.0.3 2.1.4'),
  met('2.1.5', 'people change their own password', 'changing the password revokes all tokens'),
  met('2.1.6', 'a change requires the current password', 'ASVS 4.0.3 2.1.6'),
  met(
    '2.1.7',
    'common passwords are rejected, using lists in the service',
    'ASVS 4.0.3 2.1.7: a common password is refused',
  ),
  met('2.1.8', 'the strength is shown while typing', 'a password is judged while it is typed'),
  met('2.1.9', 'no rules on kinds of characters', 'ASVS 4.0.3 2.1.7: passwords like common ones'),
  met('2.1.10', 'passwords don’t expire', 'ASVS 4.0.3 2.1.10'),
  met('2.1.11', 'pasting and password managers work', 'ASVS 4.0.3 2.1.11'),
  notMet(
    '2.1.12',
    'a typed password can be shown',
    'only at the set-up of the first owner; elsewhere the browser decides',
  ),
  met(
    '2.2.1',
    'guessing is slowed, without locking people out',
    'ASVS 4.0.3 2.2.1: 300 wrong passwords',
  ),
  met(
    '2.2.2',
    'no weak factor alone, such as mail or SMS',
    'ASVS 2.7.1: an emailed link can’t bypass a second factor',
  ),
  met(
    '2.2.3',
    'people are notified of changes and unusual sign-ins',
    'ASVS 4.0.3 2.2.3: a sign-in with a new browser',
  ),
  notMet(
    '2.2.4',
    'sign-in resists phishing',
    'passkeys do, and an account can require a second factor; time-based codes stay allowed',
  ),
  inapplicable('2.2.5', 'a separate credential service is reached by mutual TLS', 'there is none'),
  met(
    '2.2.6',
    'a proof can’t be replayed',
    'with a second factor, signing in requires a code; each code works once',
  ),
  met(
    '2.2.7',
    'signing in requires an action by the person',
    'ASVS 2.3.2: a passkey is added with a name',
  ),
  met(
    '2.3.1',
    'first passwords are chosen by the person, with a link that expires',
    'ASVS 2.3.1: an owner can’t choose a password for another person',
  ),
  met(
    '2.3.2',
    'people’s own devices can be registered',
    'ASVS 2.3.2: a passkey is added with a name',
  ),
  inapplicable('2.3.3', 'expiring authenticators are renewed in time', 'none expires'),
  met('2.4.1', 'passwords are hashed with salt, memory-hard', 'ASVS 4.0.3 2.4.1'),
  met('2.4.2', 'salts are random and long enough', 'ASVS 4.0.3 2.4.1'),
  inapplicable('2.4.3', 'PBKDF2 runs 100,000 times', 'Argon2id is used instead'),
  inapplicable('2.4.4', 'bcrypt has a work factor of 10', 'Argon2id is used instead'),
  notMet(
    '2.4.5',
    'an additional derivation with a secret salt',
    'password hashes don’t depend on the master key, so that it can be replaced; recovery codes do',
  ),
  met(
    '2.5.1',
    'nobody else can choose a first secret',
    'ASVS 2.5.1: a password chosen by another person, and its sessions, end with the invitation',
  ),
  inapplicable('2.5.2', 'no hints or secret questions', 'there are none'),
  met(
    '2.5.3',
    'recovery never shows the current password',
    'a mailed link sets a new password, once',
  ),
  met(
    '2.5.4',
    'no shared or default accounts',
    'the first owner is created once with the setup code',
  ),
  met(
    '2.5.5',
    'people are notified when a factor changes',
    'ASVS 2.2.3: every change of credentials',
  ),
  met(
    '2.5.6',
    'forgotten passwords are replaced with a link that works once',
    'a mailed link sets a new password, once',
  ),
  met(
    '2.5.7',
    'replacing a lost factor requires as much proof as adding one',
    'ASVS 2.6.1: ten recovery codes are shown once',
  ),
  met('2.6.1', 'recovery codes work once', 'ASVS 2.6.1: ten recovery codes are shown once'),
  met(
    '2.6.2',
    'recovery codes are random, or salted and hashed',
    'ASVS 2.6.2: recovery codes are stored hashed',
  ),
  met('2.6.3', 'recovery codes can’t be guessed', 'guessing recovery codes is throttled'),
  met(
    '2.7.1',
    'mail or SMS alone never signs in',
    'ASVS 2.7.1: an emailed link can’t bypass a second factor',
  ),
  inapplicable(
    '2.7.2',
    'codes sent out of band expire after 10 minutes',
    'none is sent; password links expire after 30',
  ),
  inapplicable('2.7.3', 'an out-of-band code works once, for one sign-in', 'none is sent'),
  inapplicable('2.7.4', 'an out-of-band code uses a separate channel', 'none is sent'),
  inapplicable(
    '2.7.5',
    'only a hash of an out-of-band code is stored',
    'none is sent; password links are stored only as hashes',
  ),
  inapplicable('2.7.6', 'an out-of-band code has enough entropy', 'none is sent'),
  met(
    '2.8.1',
    'time-based codes are short-lived',
    'with a second factor, signing in requires a code; each code works once',
  ),
  met('2.8.2', 'their keys are protected', 'the secret of a second factor is stored encrypted'),
  met(
    '2.8.3',
    'they use approved algorithms',
    'with a second factor, signing in requires a code; each code works once',
  ),
  met(
    '2.8.4',
    'each works once',
    'with a second factor, signing in requires a code; each code works once',
  ),
  notMet(
    '2.8.5',
    'a repeated code is rejected, and its owner notified',
    'it is refused and recorded as a refused sign-in; no notice is sent',
  ),
  met(
    '2.8.6',
    'a lost device can be revoked',
    'without the authenticator app, the password alone signs in',
  ),
  met(
    '2.8.7',
    'biometrics only together with something the person has',
    'ASVS 2.3.2: a passkey is added with a name',
  ),
  inapplicable(
    '2.9.1',
    'keys for verifying are in a secure module',
    'only public keys of passkeys are stored',
  ),
  met('2.9.2', 'challenges are random and used once', 'WebAuthn 13.4.3: a challenge works once'),
  met('2.9.3', 'only approved algorithms', 'WebAuthn 7.2: a response is refused'),
  met('2.10.1', 'services don’t share unchanging secrets', 'ASVS 4.0.3 2.10.4'),
  met('2.10.2', 'no default credentials', 'the first owner is created once with the setup code'),
  met('2.10.3', 'stored secrets resist offline attacks', 'ASVS 4.0.3 6.4.1'),
  met('2.10.4', 'secrets aren’t in the source, and are kept safely', 'ASVS 4.0.3 2.10.4'),
  met('3.1.1', 'session tokens are never in URLs', 'RFC 9700 4.2.4'),
  met(
    '3.2.1',
    'signing in creates a new session token',
    'ASVS 3.2.1: a planted session is useless',
  ),
  met('3.2.2', 'session tokens have at least 64 bits', 'ASVS 3.4.1 to 3.4.4'),
  met('3.2.3', 'browsers keep them in protected cookies', 'ASVS 3.4.1 to 3.4.4'),
  met('3.2.4', 'they come from a cryptographic generator', 'ASVS 3.4.1 to 3.4.4'),
  met('3.3.1', 'signing out ends the session', 'ASVS 3.3.1: signing out ends the session'),
  notMet(
    '3.3.2',
    'people sign in again after 12 hours, or 15 idle minutes',
    'a used session lasts 7 days, an unused one 12 hours; an account can require confirmation every hour',
  ),
  met(
    '3.3.3',
    'a new password can end all other sessions',
    'changing the password revokes all tokens',
  ),
  met('3.3.4', 'people see and end their sessions', 'all other browsers are signed out at once'),
  met('3.4.1', 'session cookies are Secure', 'ASVS 3.4.1 to 3.4.4'),
  met('3.4.2', 'session cookies are HttpOnly', 'ASVS 3.4.1 to 3.4.4'),
  met('3.4.3', 'session cookies are SameSite', 'ASVS 3.4.1 to 3.4.4'),
  met('3.4.4', 'session cookies have the __Host- prefix', 'ASVS 3.4.1 to 3.4.4'),
  notMet(
    '3.4.5',
    'cookies have a narrow path beside other applications',
    'the __Host- prefix demands the path /; the service needs its own host name',
  ),
  met(
    '3.5.1',
    'people revoke access that they gave to applications',
    'a consent is listed; withdrawing it revokes its tokens',
  ),
  notMet(
    '3.5.2',
    'session tokens instead of static keys',
    'programs can use API keys, which have scopes, networks and an expiry',
  ),
  met('3.5.3', 'stateless tokens are signed', 'ASVS 4.0.3 2.10.4'),
  inapplicable(
    '3.6.1',
    'applications set how old a sign-in may be',
    'the service isn’t an OpenID provider',
  ),
  inapplicable(
    '3.6.2',
    'applications learn of the last sign-in',
    'the service isn’t an OpenID provider',
  ),
  met(
    '3.7.1',
    'sensitive changes require a fresh proof',
    'ASVS 4.0.3 3.7.1: after the confirmation the request works',
  ),
];

/** The table of docs/reference/standards.md. */
export function describeAsvs(): string {
  const rows = asvsRequirements.map(({ id, what, test, reason, inapplicable: why }) => {
    const state =
      test !== undefined
        ? `yes: “${test}”`
        : reason !== undefined
          ? `no: ${reason}`
          : `doesn’t apply: ${why}`;
    return `| ${id} | ${what} | ${state} |`;
  });
  return ['| | requirement | met, with the test |', '|---|---|---|', ...rows].join('\n');
}
