/** Actions on a user, as described in the help of `user`; every command loads this file, so it imports nothing. */
export const userActions = {
  disable: 'locks a user out: sign-in, tokens, browsers and API keys end on every node',
  enable: 'enables a disabled user',
  'password-link': 'prints a link to set a password; it works once, for half an hour',
  'remove-second-factor': 'for a user who lost the authenticator and the recovery codes',
} as const;

export type UserActionName = keyof typeof userActions;
