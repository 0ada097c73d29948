/** What audit events are about, with how their kinds begin. */
const kindStarts = {
  account: ['account', 'policy', 'set_up', 'manifest', 'allowance', 'source'],
  user: [
    'user',
    'invitation',
    'operator',
    'membership',
    'person_created',
    'person_changed',
    'person_removed',
  ],
  access: [
    'sign_in',
    'password',
    'second_factor',
    'recovery_codes',
    'client_secret',
    'session',
    'consent',
    'client_authentication',
    'code_grant',
    'grant_code',
    'refresh_token',
    'token',
  ],
  key: ['api_key'],
  integration: ['integration'],
  webhook: ['webhook'],
  template: ['template', 'mail_template'],
  sender: ['sender'],
  domain: ['domain'],
  message: ['message', 'queue', 'schedule', 'pause', 'inbox', 'receiver'],
  list: ['list', 'contact'],
  suppression: ['suppression'],
  privacy: ['retention_rule', 'person_exported', 'person_erased'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type AuditThing = keyof typeof kindStarts;

export const auditThings = Object.keys(kindStarts) as AuditThing[];

/** A regular expression for the kinds of events about a thing. */
export function kindPattern(thing: AuditThing): string {
  return `^(?:${kindStarts[thing].join('|')})(?:_|s_|$)`;
}
