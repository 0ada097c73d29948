import type { AdmissionRefusal } from './admit-person.ts';

/** Why a sign-in with a provider ended without one; in the query of the page that says so. */
export type SignInFailure =
  | AdmissionRefusal
  | 'provider-missing'
  | 'provider-down'
  | 'provider-refused'
  | 'flow-expired'
  | 'other-person'
  | 'taken';

/** Fixed texts, so that none comes from outside. */
const failureTexts: Readonly<Record<SignInFailure, string>> = {
  'provider-missing':
    'This sign-in link isn’t valid. Ask your administrator for the sign-in link of your account.',
  'provider-down':
    'Your sign-in provider can’t be reached. Try again later, or sign in another way.',
  'provider-refused':
    'Your sign-in provider didn’t confirm who you are. Try again, or ask your administrator.',
  'flow-expired': 'The sign-in expired or was already used. Try again.',
  'other-person': 'You signed in to your provider as someone else. Use the same user as before.',
  taken: 'This user of your provider is already connected, to you or to someone else.',
  'too-many-groups':
    'Your sign-in provider sends too many groups. Ask your administrator to send only the groups of this application.',
  'email-missing':
    'Your sign-in provider didn’t send your email address. Ask your administrator to add it.',
  'email-unverified':
    'Your sign-in provider hasn’t verified your email address. Ask your administrator.',
  'foreign-domain':
    'Your email address isn’t in a verified domain of this account. Ask its owners to add the domain.',
  'not-linked':
    'You already have a sign-in here. Sign in the way you usually do, then connect your provider under Sign-in and security.',
  operator:
    'You’re an operator. Sign in with your password, a passkey or the installation’s provider.',
  'no-member':
    'Your sign-in provider gives you no access here. Ask your administrator to add you to a group.',
  disabled: 'Your access is disabled. Ask your administrator.',
  unusable: 'Your sign-in provider sent an invalid user ID. Ask your administrator.',
};

/** The text for a failure in a query; undefined for anything else. */
export function signInFailureText(failed: string | undefined): string | undefined {
  return failed !== undefined && Object.hasOwn(failureTexts, failed)
    ? failureTexts[failed as SignInFailure]
    : undefined;
}
