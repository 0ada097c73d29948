import { type Static, Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { transferAllApiKeys } from '../../access/transfer-api-keys.ts';
import { findPersonByEmail } from '../../account/person-store.ts';
import { recordChange } from '../../change/actor.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { PersonId } from '../../foundation/ids.ts';
import { UserSchema } from '../../manifest/manifest-schema.ts';
import { disablePerson, enablePerson } from '../../session/disable-person.ts';
import { strict } from '../answer/common-schemas.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { invalidField, notFound, Problem } from '../answer/problem.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { callerOf, requireResource, saveResource } from '../save-resource.ts';
import { type PersonFacts, readPeople } from './people-page-store.ts';

const PersonView = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    operator: Type.Boolean({ description: 'Was named operator of the installation.' }),
    disabled: Type.Boolean({ description: 'Can neither sign in nor use a token.' }),
    accounts: Type.Array(
      Type.Object({ accountId: Type.String(), role: UserSchema.properties.role }, strict),
    ),
  },
  { ...strict, title: 'Person' },
);

function viewPerson(person: PersonFacts): Static<typeof PersonView> {
  return { ...person, accounts: [...person.accounts] };
}

function personChange(call: OperationCall) {
  const { email } = call.params;
  return {
    kind: 'person',
    id: email,
    async read(transaction: DatabaseTransaction) {
      const [found] = await readPeople(transaction, { email });
      return found && viewPerson(found);
    },
  };
}

export const listPeople = defineOperation({
  id: 'listPeople',
  summary: 'List the people of the installation',
  query: pageQuery({
    contains: Type.Optional(
      Type.String({ description: 'Part of the address or name, in any case.', maxLength: 320 }),
    ),
    operator: Type.Optional(Type.Boolean({ description: 'Only operators, or only others.' })),
  }),
  answer: pageOf(PersonView),
  async handle({ dependencies, query }) {
    const limit = pageSizeOf(query);
    const [after = ''] = readCursor(query, 'text') ?? [];
    const { contains, operator } = query;
    const rows = await readPeople(dependencies.database.kysely, {
      contains,
      operator,
      after,
      limit: limit + 1,
    });
    return toPage(rows, limit, viewPerson, ({ email }) => [email]);
  },
});

export const getPerson = defineOperation({
  id: 'getPerson',
  summary: 'Read a person',
  answer: PersonView,
  handle: (call) => requireResource(call, personChange(call)),
});

export const putPerson = defineOperation({
  id: 'putPerson',
  summary: 'Disable a person, or let one in again',
  description:
    'Ends the tokens, sessions and API keys of a disabled person on every node within a second. Roles stay.',
  query: Type.Object(
    {
      keysTo: Type.Optional(
        Type.String({
          description:
            'Address of somebody else who takes over the API keys that a disabled person made, in every account that they own. The rest end.',
          maxLength: 320,
        }),
      ),
    },
    strict,
  ),
  body: Type.Object({ disabled: Type.Boolean() }, strict),
  answer: PersonView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...personChange(call),
      async write(transaction) {
        const person = await findPersonByEmail(transaction, call.params.email);
        if (person === undefined) throw notFound('person');
        const { disabled } = call.body;
        if (disabled && person.id === personOf(actorOf(call)))
          throw new Problem('conflict', 'Nobody can disable themselves');
        if (!disabled) return enablePerson(transaction, person.id);
        await transferPersonKeys(transaction, call, person.id);
        await disablePerson(transaction, person.id);
      },
    }),
});

/** @throws Problem where `keysTo` names nobody who can take any of the keys over */
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
      'must be the address of an owner of an account with keys of the person',
    );
  // The account's own audit log has it.
  for (const [accountId, count] of transferred.transferred)
    await recordChange(
      transaction,
      { ...callerOf(call), accountId },
      'api_keys_taken_over',
      call.params.email,
      { by: keysTo ?? '', count },
    );
}
