import { type Static, Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { transferAllApiKeys } from '../../access/transfer-api-keys.ts';
import { findPersonByEmail } from '../../account/person-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { PersonId } from '../../foundation/ids.ts';
import { UserSchema } from '../../manifest/manifest-schema.ts';
import { disablePerson, enablePerson } from '../../session/disable-person.ts';
import { strict } from '../answer/common-schemas.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { invalidField, notFound, Problem } from '../answer/problem.ts';
import { recordAudit, requireResource, saveResource } from '../change-resource.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { type PersonFacts, readPeople } from './people-page-store.ts';

const PersonView = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    operator: Type.Boolean({ description: 'Whether the person is an operator.' }),
    disabled: Type.Boolean({ description: 'Disabled people can’t sign in or use tokens.' }),
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
  summary: 'List people',
  query: pageQuery({
    contains: Type.Optional(
      Type.String({
        description: 'Part of the address or name, case-insensitive.',
        maxLength: 320,
      }),
    ),
    operator: Type.Optional(
      Type.Boolean({ description: 'True: only operators. False: only others.' }),
    ),
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
  summary: 'Get a person',
  answer: PersonView,
  handle: (call) => requireResource(call, personChange(call)),
});

export const putPerson = defineOperation({
  id: 'putPerson',
  summary: 'Disable or enable a person',
  description:
    'Disabling revokes the person’s tokens, sessions and API keys on every node within a second. Roles stay.',
  query: Type.Object(
    {
      keysTo: Type.Optional(
        Type.String({
          description:
            'Email of a person who takes over the API keys the disabled person created, in every account this person owns. The other keys are revoked.',
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
          throw new Problem('conflict', 'You can’t disable yourself');
        if (!disabled) return enablePerson(transaction, person.id);
        await transferPersonKeys(transaction, call, person.id);
        await disablePerson(transaction, person.id);
      },
    }),
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
      'must be the email of an owner of an account in which the person created keys',
    );
  for (const [accountId, count] of transferred.transferred)
    await recordAudit(
      // Recorded in the account's own audit log.
      { ...call, params: { ...call.params, accountId } },
      transaction,
      'api_keys_taken_over',
      call.params.email,
      { by: keysTo ?? '', count },
    );
}
