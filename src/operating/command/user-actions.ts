/** Actions of `user` with their help texts. Loaded by every command, so it imports nothing. */
export const userActions = {
  disable: 'disable a user and revoke their sessions, tokens and API keys on every node',
  enable: 'enable a disabled user',
  'password-link': 'print a link to set a password; it works once, within 30 minutes',
  'remove-second-factor':
    'remove the authenticator app and passkeys of a user who lost them and the recovery codes',
} as const;

export type UserActionName = keyof typeof userActions;
