import { Type } from 'typebox';
import { transferAllApiKeys } from '../../../accounts/access/issue-api-key.ts';
import { personOf } from '../../../accounts/access/principal.ts';
import { readPeople } from '../../../accounts/account/people-page-store.ts';
import { findPersonByEmail } from '../../../accounts/account/person-store.ts';
import { disablePerson, enablePerson } from '../../../accounts/sign-in/disable-person.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import {
  Flag,
  NamedObject,
  OptionalText,
  StrictObject,
} from '../../../base/values/common-schemas.ts';
import type { PersonId } from '../../../base/values/ids.ts';
import { recordChange } from '../../change/actor.ts';
import { UserSchema } from '../../manifest/manifest-schema.ts';
import { conflict, invalidField, notFound } from '../answer/problem.ts';
import { actorOf, type OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';
import { callerOf } from '../save-resource.ts';

const PersonView = NamedObject('Person', {
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  operator: Flag('Whether the user is an operator.'),
  disabled: Flag('Disabled users can’t sign in or use tokens.'),
  accounts: Type.Array(
    StrictObject({ accountId: Type.String(), role: UserSchema.properties.role }),
  ),
});

const personResource = resourceOf({
  kind: 'person',
  unrecorded: ['name'],
  id: 'email',
  async read(transaction, { params: { email } }) {
    const [found] = await readPeople(transaction, { email });
    return found;
  },
});

export const peopleRoutes = resourceRoutes({
  path: '/installation/people/:email',
  access: { read: 'operate', write: 'operate' },
  view: PersonView,
  resource: personResource,
  list: {
    id: 'listPeople',
    summary: 'List all users',
    filters: {
      contains: OptionalText('Part of the address or name, case-insensitive.', { maxLength: 320 }),
      operator: Type.Optional(Flag('True: only operators. False: only others.')),
    },
    key: 'email',
    read: ({ kysely, query: { contains, operator } }, page) =>
      readPeople(kysely, { contains, operator, ...page }),
  },
  get: { id: 'getPerson', summary: 'Get any user' },
  put: {
    id: 'putPerson',
    confirmed: true,
    summary: 'Disable or enable a user',
    description:
      'Disabling revokes the user’s tokens, sessions and API keys on every node within a second. Roles are kept.',
    query: StrictObject({
      keysTo: OptionalText(
        'Email of an owner who takes over the API keys that the disabled user created, in every account that this owner owns. The other keys are revoked.',
        { maxLength: 320 },
      ),
    }),
    body: StrictObject({ disabled: Type.Boolean() }),
    write: (call) => async (transaction) => {
      const person = await findPersonByEmail(transaction, call.params.email);
      if (person === undefined) throw notFound('person');
      const { disabled } = call.body;
      if (disabled && person.id === personOf(actorOf(call)))
        throw conflict('You can’t disable yourself');
      if (!disabled) return enablePerson(transaction, person.id);
      await transferPersonKeys(transaction, call, person.id);
      const refusal = await disablePerson(transaction, call.dependencies.access.facts, person.id);
      if (refusal !== undefined) throw conflict(refusal);
    },
  },
});

/** @throws Problem if the person in `keysTo` can't take over any of the keys */
async function transferPersonKeys(
  transaction: DatabaseTransaction,
  call: OperationCall & { readonly query: { readonly keysTo?: string } },
  from: PersonId,
): Promise<void> {
  const { keysTo } = call.query;
  const transferred = await transferAllApiKeys(transaction, from, keysTo);
  if (transferred === undefined)
    throw invalidField(
      'keysTo',
      'must be the email of an owner of an account in which the user created keys',
    );
  // Recorded in the account's own audit log.
  for (const [accountId, count] of transferred.transferred)
    await recordChange(
      transaction,
      { ...callerOf(call), accountId },
      'api_keys_taken_over',
      call.params.email,
      { by: keysTo ?? '', count },
    );
}
