import { Type } from 'typebox';
import { isSetUpOpen } from '../../access/operator-store.ts';
import { hashToken } from '../../access/token-mint.ts';
import { maxPasswordLength } from '../../account/hash-password.ts';
import { findPersonByEmail, setOperator } from '../../account/person-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { AccountId } from '../../foundation/ids.ts';
import { isSameOrigin } from '../../http/same-origin.ts';
import { AccountSchema, UserSchema } from '../../manifest/manifest-schema.ts';
import { consumeOneTimeLink, isValidOneTimeLink } from '../../session/one-time-link-store.ts';
import { consoleHeader } from '../access/identify-actor.ts';
import { strict } from '../answer/common-schemas.ts';
import { Problem } from '../answer/problem.ts';
import { applyAccount } from '../apply-manifest-part.ts';
import { inTransaction, recordAudit } from '../change-resource.ts';
import { defineOperation } from '../operation.ts';

export const getSetUp = defineOperation({
  id: 'getSetUp',
  summary: 'Ask whether the installation waits for its first owner',
  answer: Type.Object(
    {
      open: Type.Boolean({
        description: 'Whether the first owner can be made, with a set-up link.',
      }),
    },
    { ...strict, title: 'SetUp' },
  ),
  async handle(call) {
    return { open: await isSetUpOpen(call.dependencies.database.kysely) };
  },
});

export const setUp = defineOperation({
  id: 'setUp',
  summary: 'Make the first owner, the operator of the installation, with an account',
  description:
    'Works once, with the code of the set-up link that the start or `bin/signalpost set-up-link` prints, while there are no people but those of the demo. Signs the browser in.',
  body: Type.Object(
    {
      code: Type.String({ description: 'Of the set-up link.', maxLength: 100 }),
      email: UserSchema.properties.email,
      name: AccountSchema.properties.name,
      password: Type.String({
        description: 'At least 12 characters.',
        maxLength: maxPasswordLength,
      }),
      accountId: AccountSchema.properties.id,
      accountName: AccountSchema.properties.name,
    },
    strict,
  ),
  answer: Type.Object({ accountId: Type.String() }, { ...strict, title: 'SetUpDone' }),
  status: 201,
  async handle(call) {
    const { request, reply, dependencies } = call;
    const own = isSameOrigin(request) && request.headers[consoleHeader] !== undefined;
    if (!own) throw new Problem('forbidden', 'This works from a page of the service only');
    const { code, email, name, password, accountId, accountName } = call.body;
    const codeHash = hashToken(code);
    // Looked at before anything is locked or hashed, so that a stranger's request costs next to nothing.
    await requireOpen(dependencies.database.kysely);
    if (!(await isValidOneTimeLink(dependencies.database.kysely, 'set-up', codeHash)))
      throw wrongCode();
    const personId = await inTransaction(call, async (transaction) => {
      await requireOpen(transaction);
      if (!(await consumeOneTimeLink(transaction, 'set-up', codeHash))) throw wrongCode();
      if ((await findPersonByEmail(transaction, email)) !== undefined)
        throw new Problem('conflict', 'This address belongs to somebody of the demo');
      const users = [{ email, name, password, role: 'owner' as const }];
      // Who runs the installation has nobody to ask for the add-on.
      const addOns: ['transactional'] = ['transactional'];
      const account = { id: accountId, name: accountName, addOns, users };
      await applyAccount(dependencies.key, transaction, account);
      const person = await findPersonByEmail(transaction, email);
      if (person === undefined) throw new Error('the first owner is not there');
      await setOperator(transaction, person.id, true);
      const actor = {
        kind: 'person',
        personId: person.id,
        clientId: undefined,
        boundTo: undefined,
      } as const;
      const asOwner = {
        ...call,
        actor,
        params: { ...call.params, accountId: accountId as AccountId },
      };
      await recordAudit(asOwner, transaction, 'set_up', accountId);
      return person.id;
    });
    await dependencies.browser.signIn(request, reply, personId, true);
    return { accountId };
  },
});

async function requireOpen(kysely: DatabaseTransaction): Promise<void> {
  if (await isSetUpOpen(kysely)) return;
  throw new Problem('conflict', 'The installation has its owner already');
}

function wrongCode(): Problem {
  return new Problem(
    'link-expired',
    'The set-up link has expired, or a newer one replaced it. For a new link, run bin/signalpost set-up-link on the server.',
  );
}
