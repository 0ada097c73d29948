/** What an operator can do about one user, as the help of `user` says it; loaded by every command, so it imports nothing. */
export const userActions = {
  disable: 'keeps somebody out: sign-in, tokens, browsers and API keys end on every node',
  enable: 'lets somebody in again who was disabled',
  'password-link': 'prints a link by which somebody sets a password, once, within half an hour',
  'remove-second-factor': 'for somebody who lost the authenticator and the recovery codes',
} as const;

export type UserActionName = keyof typeof userActions;
