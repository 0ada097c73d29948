/** What an operator can do about one user, as the help of `user` says it; loaded by every command, so it imports nothing. */
export const userActions = {
  disable: 'disable a user: ends sign-in, tokens, browsers and API keys on every node',
  enable: 'enable a disabled user',
  'password-link': 'print a link to set a password; it works once, within half an hour',
  'remove-second-factor':
    'remove the second factor of a user who lost the authenticator and the recovery codes',
} as const;

export type UserActionName = keyof typeof userActions;
