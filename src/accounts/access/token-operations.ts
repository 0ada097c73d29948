import type { Permission } from './permission.ts';

/** An operation of the contract, available to access tokens and API keys. */
export interface TokenOperation {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly permission: Permission;
  /** What it allows a program to do, for the consent page and the documentation. */
  readonly allows: string;
}

/** Everything an access token can be used for, whichever grant it came from. */
export const tokenOperations = {
  send: {
    method: 'POST',
    path: '/ete/v1/email/{account_id}/{template_id}',
    permission: 'messages:send',
    allows: 'send email with this account’s templates and verified senders',
  },
  batch: {
    method: 'POST',
    path: '/ete/v1/email/{account_id}/{template_id}/batch',
    permission: 'messages:send',
    allows: 'send up to 1,000 such emails in one request',
  },
  status: {
    method: 'GET',
    path: '/ete/v1/message/{account_id}/{message_id}',
    permission: 'messages:status',
    allows: 'read the status of this account’s messages, including their recipients',
  },
  list: {
    method: 'GET',
    path: '/api/1/list',
    permission: 'lists:read',
    allows: 'list this account’s contact lists (not the contacts in them)',
  },
} as const satisfies Readonly<Record<string, TokenOperation>>;

/** The permissions of an access token; its user must have them in the account too. */
export const tokenPermissions: ReadonlySet<Permission> = new Set(
  Object.values(tokenOperations).map(({ permission }) => permission),
);
