import { Type } from 'typebox';
import { isSetUpOpen } from '../../../accounts/access/operator-store.ts';
import { hashToken } from '../../../accounts/access/token-mint.ts';
import {
  hashPassword,
  maxPasswordLength,
  minPasswordLength,
} from '../../../accounts/account/hash-password.ts';
import { saveMembership } from '../../../accounts/account/membership-store.ts';
import { findGuessReason } from '../../../accounts/account/password-strength.ts';
import {
  createPerson,
  findPersonByEmail,
  setOperator,
} from '../../../accounts/account/person-store.ts';
import {
  consumeOneTimeLink,
  isValidOneTimeLink,
} from '../../../accounts/sign-in/one-time-link-store.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { Flag, NamedObject, StrictObject, Text } from '../../../base/values/common-schemas.ts';
import { parseAccountId } from '../../../base/values/ids.ts';
import { isSameOrigin } from '../../../host/http/same-origin.ts';
import { recordChange } from '../../change/actor.ts';
import { applyEntry, buildEntry } from '../../manifest/apply-manifest.ts';
import { isDemoApplied } from '../../manifest/demo-store.ts';
import { AccountSchema, UserSchema } from '../../manifest/manifest-schema.ts';
import { accountResource } from '../../manifest/resource-sections.ts';
import { buildUser } from '../../manifest/user-section.ts';
import { consoleHeader } from '../access/admit-actor.ts';
import { conflict, forbidden, invalidField, Problem } from '../answer/problem.ts';
import { defineOperation } from '../operation.ts';
import { malformedParam } from '../path-params.ts';
import { callerOf, inTransaction } from '../save-resource.ts';

export const getSetUp = defineOperation({
  id: 'getSetUp',
  summary: 'Check whether setup is open',
  answer: NamedObject('SetUp', {
    open: Flag('Whether the first owner can be created with a setup link.'),
    demo: Flag('Whether the demo was set up and can be signed in to.'),
  }),
  async handle(call) {
    const { kysely } = call;
    const open = await isSetUpOpen(kysely);
    // Afterwards, strangers learn nothing about the accounts.
    return { open, demo: open && (await isDemoApplied(kysely)) };
  },
});

export const setUp = defineOperation({
  id: 'setUp',
  summary: 'Create the first owner and account',
  description:
    'Works once, while demo users are the only users. Requires the code from the setup link, which is printed at startup and by `bin/signalpost set-up-link`. The owner becomes an operator of the installation and is signed in.',
  body: StrictObject({
    code: Text('Code from the setup link.', { examples: ['code-of-the-link'], maxLength: 100 }),
    email: UserSchema.properties.email,
    name: AccountSchema.properties.name,
    password: Text('At least 12 characters, and not like a common one.', {
      examples: ['twelve blue teapots'],
      maxLength: maxPasswordLength,
    }),
    accountId: AccountSchema.properties.id,
    accountName: AccountSchema.properties.name,
  }),
  answer: NamedObject('SetUpDone', { accountId: Type.String() }),
  status: 201,
  async handle(call) {
    const { request, reply, dependencies, kysely } = call;
    const sameOrigin = isSameOrigin(request) && request.headers[consoleHeader] !== undefined;
    if (!sameOrigin) throw forbidden('Setup only works from the setup page of this service');
    const { code, email, name, password, accountName } = call.body;
    const accountId = parseAccountId(call.body.accountId);
    if (accountId === undefined) throw malformedParam('accountId');
    const codeHash = hashToken(code);
    // Checked before locking or hashing, so unauthenticated requests stay cheap.
    await requireOpen(kysely);
    if (!(await isValidOneTimeLink(kysely, 'set-up', codeHash))) throw wrongCode();
    const guess = await findGuessReason(password, [email, name, accountName]);
    if (guess !== undefined && [...password].length >= minPasswordLength)
      throw invalidField('password', `is too easy to guess. ${guess}`);
    const personId = await inTransaction(call, async (transaction) => {
      await requireOpen(transaction);
      if (!(await consumeOneTimeLink(transaction, 'set-up', codeHash))) throw wrongCode();
      if ((await findPersonByEmail(transaction, email)) !== undefined)
        throw conflict('This address belongs to a demo user. Use another one');
      // The first owner runs the installation and has no operator to ask for the add-on.
      const addOns: ['transactional'] = ['transactional'];
      const account = { id: accountId, name: accountName, addOns };
      await applyEntry(accountResource, account, { transaction, key: dependencies.key, accountId });
      await buildEntry(buildUser, { email, name, password, role: 'owner' });
      const passwordHash = await hashPassword(password);
      const person = await createPerson(transaction, { email, name, passwordHash });
      await saveMembership(transaction, { accountId, personId: person.id, role: 'owner' });
      await setOperator(transaction, person.id, true);
      const principal = {
        kind: 'person',
        personId: person.id,
        confirmedAgo: 0,
        hasSecondFactor: false,
        reach: 'all',
        byProvider: false,
      } as const;
      const { origin } = callerOf(call);
      await recordChange(transaction, { principal, origin, accountId }, 'set_up', accountId);
      return person.id;
    });
    await dependencies.browser.signIn(request, reply, personId);
    return { accountId };
  },
});

async function requireOpen(kysely: DatabaseTransaction): Promise<void> {
  if (await isSetUpOpen(kysely)) return;
  throw conflict('The installation is already set up');
}

function wrongCode(): Problem {
  return new Problem(
    'link-expired',
    'The setup link has expired, or a newer one replaced it. For a new link, run bin/signalpost set-up-link on the server.',
  );
}
