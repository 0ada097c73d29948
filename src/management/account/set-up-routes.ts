import { Type } from 'typebox';
import { readSetUpState } from '../../access/operator-store.ts';
import { longestPassword } from '../../account/hash-password.ts';
import { findPersonByEmail, setOperator } from '../../account/person-store.ts';
import type { AccountId } from '../../foundation/ids.ts';
import { hasLocalHost, isLoopbackPeer } from '../../http/loopback.ts';
import { isSameOrigin } from '../../http/same-origin.ts';
import { AccountSchema, UserSchema } from '../../manifest/manifest-schema.ts';
import { consoleHeader } from '../access/identify-actor.ts';
import { Problem } from '../answer/problem.ts';
import { strict } from '../answer/schema-parts.ts';
import { applyAccount } from '../apply-part.ts';
import { inTransaction, record } from '../change-resource.ts';
import { type Call, endpoint } from '../endpoint.ts';

/** Only who sits at this machine, or has a tunnel to it, can be taken for the one who started the service. */
function mayAsk({ request }: Call): boolean {
  return isLoopbackPeer(request) && hasLocalHost(request);
}

export const getSetUp = endpoint({
  id: 'getSetUp',
  summary: 'Ask whether the installation waits for its first owner',
  answer: Type.Object(
    {
      open: Type.Boolean({ description: 'Whether this caller may make the first owner now.' }),
      demo: Type.Boolean({ description: 'Whether this caller can look around in the demo first.' }),
    },
    { ...strict, title: 'SetUp' },
  ),
  async handle(call) {
    if (!mayAsk(call)) return { open: false, demo: false };
    return readSetUpState(call.parts.database.kysely);
  },
});

export const setUp = endpoint({
  id: 'setUp',
  summary: 'Make the first owner, the operator of the installation, with an account',
  description:
    'Works once, from this machine, while there are no people but those of the demo. Signs the browser in.',
  body: Type.Object(
    {
      email: UserSchema.properties.email,
      name: AccountSchema.properties.name,
      password: Type.String({ description: 'At least 12 characters.', maxLength: longestPassword }),
      accountId: AccountSchema.properties.id,
      accountName: AccountSchema.properties.name,
    },
    strict,
  ),
  answer: Type.Object({ accountId: Type.String() }, { ...strict, title: 'SetUpDone' }),
  status: 201,
  async handle(call) {
    const { request, reply, parts } = call;
    const own = isSameOrigin(request) && request.headers[consoleHeader] !== undefined;
    if (!mayAsk(call) || !own)
      throw new Problem('forbidden', 'This works from a page of the service on its own machine');
    const { email, name, password, accountId, accountName } = call.body;
    const personId = await inTransaction(call, async (transaction) => {
      if (!(await readSetUpState(transaction)).open)
        throw new Problem('conflict', 'The installation has its owner already');
      if ((await findPersonByEmail(transaction, email)) !== undefined)
        throw new Problem('conflict', 'This address belongs to somebody of the demo');
      const users = [{ email, name, password, role: 'owner' as const }];
      // Who runs the installation has nobody to ask for the add-on.
      const addOns: ['transactional'] = ['transactional'];
      const account = { id: accountId, name: accountName, addOns, users };
      await applyAccount(parts.key, transaction, account);
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
      await record(asOwner, transaction, 'set_up', accountId);
      return person.id;
    });
    await parts.browser.signIn(request, reply, personId, true);
    return { accountId };
  },
});
