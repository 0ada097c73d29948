import { Type } from 'typebox';
import { readPeople } from '../../../accounts/account/people-page-store.ts';
import { findPersonByEmail } from '../../../accounts/account/person-store.ts';
import { changeOperator } from '../../../accounts/sign-in/disable-person.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { listProcesses } from '../../../base/threads/process-store.ts';
import {
  Flag,
  NamedObject,
  Nullable,
  strict,
  Text,
  Time,
  Uuid,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { assessBackup } from '../../../host/backup/assess-backup.ts';
import { readLastBackupAt } from '../../../host/backup/backup-state.ts';
import { poolsOf } from '../../../sending/delivery/direct/source-pools.ts';
import { canOperate } from '../access/admit-actor.ts';
import { readAccountAccess } from '../account/manage-me-routes.ts';
import { defineList } from '../answer/list-operations.ts';
import { conflict, notFound } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';

const SmtpSubmissionView = Type.Object(
  {
    host: Text('The host that programs connect to.'),
    port: Nullable(Whole('The port with STARTTLS.')),
    tlsPort: Nullable(Whole('The port with TLS from the start.')),
  },
  {
    ...strict,
    title: 'SmtpSubmission',
    description: 'Where programs submit messages over SMTP. `null` if `SUBMISSION_PORT` isn’t set.',
  },
);

const SettingsView = NamedObject('Settings', {
  version: Type.String(),
  publicUrl: Type.String(),
  delivery: Text('`inbox`, `relay` or `direct`.'),
  deliveryRedirect: Nullable(Text('If set, every message is sent to this address instead.')),
  deliveryAllow: Type.Array(Type.String(), {
    description: 'If not empty, only these domains are delivered to.',
  }),
  systemMail: Flag(
    'Whether invitations, sender verification links and security notices are sent; see `SYSTEM_MAIL_FROM`.',
  ),
  hostname: Nullable(Text('Host name sent in EHLO.')),
  sourcePools: Type.Array(Type.String(), {
    description: 'Source address pools available to sending domains.',
  }),
  smtpSubmission: Nullable(SmtpSubmissionView),
});

export const getSettings = defineOperation({
  id: 'getSettings',
  summary: 'Get the settings of the installation',
  description:
    'Set through environment variables. Secrets aren’t included. Only operators, and callers with `domains:read` in an account, see where mail is redirected, the allowed domains, the host name and the pools.',
  answer: SettingsView,
  async handle(call) {
    const { dependencies } = call;
    const { version, delivery, deliveryRedirect, deliveryAllow, hostname, direct } =
      dependencies.facts;
    const submission = dependencies.smtpSubmission();
    const actor = actorOf(call);
    const seesDelivery =
      (await canOperate(dependencies, actor)) ||
      (await readAccountAccess(call.kysely, actor)).some(({ granted }) =>
        granted.has('domains:read'),
      );
    return viewOf(SettingsView)({
      version,
      publicUrl: dependencies.publicUrl(),
      delivery,
      deliveryAllow: [],
      systemMail: dependencies.systemMailEnabled,
      sourcePools: [],
      smtpSubmission: submission && viewOf(SmtpSubmissionView)(submission),
      ...(seesDelivery && {
        deliveryRedirect,
        deliveryAllow,
        hostname,
        sourcePools: poolsOf(direct.sources),
      }),
    });
  },
});

const OperatorView = NamedObject('Operator', { email: Type.String(), name: Type.String() });

const operatorOf = resourceOf({
  kind: 'operator',
  unrecorded: ['name'],
  id: 'email',
  async read(transaction, { params: { email } }) {
    const [found] = await readPeople(transaction, { email, operator: true });
    return found && viewOf(OperatorView)(found);
  },
});

function writeOperator(
  { params: { email }, dependencies: { access } }: OperationCall,
  operator: boolean,
) {
  return async (transaction: DatabaseTransaction) => {
    const person = await findPersonByEmail(transaction, email);
    if (person === undefined) throw notFound('person');
    const refusal = await changeOperator(transaction, access.facts, person.id, operator);
    if (refusal !== undefined) throw conflict(refusal);
  };
}

export const operatorRoutes = resourceRoutes({
  path: '/installation/operators/:email',
  access: { read: 'operate', write: 'operate' },
  view: OperatorView,
  resource: operatorOf,
  get: {
    id: 'getOperator',
    summary: 'Get an operator',
  },
  put: {
    id: 'putOperator',
    confirmed: true,
    summary: 'Make a user an operator',
    write: (call) => writeOperator(call, true),
  },
  remove: {
    id: 'deleteOperator',
    confirmed: true,
    summary: 'Remove an operator',
    write: (call) => writeOperator(call, false),
  },
});

export const getBackup = defineOperation({
  id: 'getBackup',
  summary: 'Get the state of the backup',
  description:
    'The backup of the embedded database, as in `bin/signalpost doctor`. Your own PostgreSQL is backed up with its own tools, and isn’t checked.',
  answer: NamedObject('Backup', {
    ok: Flag('False if a backup that is set up fails or is late.'),
    finding: Text('Where to, how old, and what is wrong.'),
    advice: Nullable(Text('What to do about it.')),
    lastAt: Nullable(Time('When the last backup was finished.')),
  }),
  async handle({ dependencies: { facts } }) {
    const { ok, finding, advice = null } = assessBackup(facts, true);
    const lastAt = facts.databaseUrl === undefined ? readLastBackupAt(facts.dataDir) : undefined;
    return { ok, finding, advice, lastAt: lastAt ?? null };
  },
});

const ProcessView = NamedObject('ServiceProcess', {
  id: Uuid,
  host: Text('Name of its machine or container.'),
  pid: Whole('Its process ID there.'),
  version: Type.String(),
  roles: Type.Array(Type.String(), {
    description: 'What it does: `http`, `management`, `smtp`, `worker`.',
  }),
  state: Type.Enum(['running', 'vanished'], {
    description:
      '`vanished`: it hasn’t reported for 15 seconds and didn’t say that it stops. It’s removed after an hour.',
  }),
  startedAt: Time('When it started.'),
  seenAt: Time('When it last reported.'),
  inFlight: Whole(
    'Messages that it’s sending. Those of a vanished process go to others once their leases expire.',
  ),
  delayMs: Nullable(
    Whole(
      'How late its timers run, in milliseconds; more than a few dozen means that it’s overloaded. Null once it vanished.',
    ),
  ),
});

export const listServiceProcesses = defineList({
  id: 'listProcesses',
  summary: 'List the running processes of the service',
  description: 'Each reports every five seconds.',
  item: ProcessView,
  async read({ kysely }) {
    const processes = await listProcesses(kysely);
    return processes.map((process) => ({
      ...process,
      delayMs: process.state === 'vanished' ? null : process.delayMs,
    }));
  },
});
