import { Type } from 'typebox';
import { readPeople } from '../../../accounts/account/people-page-store.ts';
import { findPersonByEmail } from '../../../accounts/account/person-store.ts';
import { changeOperator } from '../../../accounts/sign-in/disable-person.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { listProcesses } from '../../../base/threads/process-store.ts';
import { NamedObject, Nullable, strict, Time, Uuid } from '../../../base/values/common-schemas.ts';
import { assessBackup } from '../../../host/backup/assess-backup.ts';
import { readLastBackupAt } from '../../../host/backup/backup-state.ts';
import { poolsOf } from '../../../sending/delivery/direct/source-pools.ts';
import type { SubmissionEndpoint } from '../../../sending/smtp-submission/submission-endpoint.ts';
import { canOperate } from '../access/admit-actor.ts';
import { readAccountAccess } from '../account/manage-me-routes.ts';
import { pageOf } from '../answer/page.ts';
import { notFound, Problem } from '../answer/problem.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';

const SmtpSubmissionView = Type.Object(
  {
    host: Type.String({ description: 'The host that programs connect to.' }),
    port: Nullable(Type.Integer({ description: 'The port with STARTTLS.' })),
    tlsPort: Nullable(Type.Integer({ description: 'The port with TLS from the start.' })),
  },
  {
    ...strict,
    title: 'SmtpSubmission',
    description: 'Where programs submit messages over SMTP. `null` if `SUBMISSION_PORT` isn’t set.',
  },
);

export const getSettings = defineOperation({
  id: 'getSettings',
  summary: 'Get the settings of the installation',
  description:
    'Set through environment variables. Secrets aren’t included. Only operators, and callers with `domains:read` in an account, see where mail is redirected, the allowed domains, the host name and the pools.',
  answer: NamedObject('Settings', {
    version: Type.String(),
    publicUrl: Type.String(),
    delivery: Type.String({ description: '`inbox`, `relay` or `direct`.' }),
    deliveryRedirect: Nullable(
      Type.String({ description: 'If set, every message is sent to this address instead.' }),
    ),
    deliveryAllow: Type.Array(Type.String(), {
      description: 'If not empty, only these domains are delivered to.',
    }),
    systemMail: Type.Boolean({
      description:
        'Whether invitations, sender verification links and security notices are sent; see `SYSTEM_MAIL_FROM`.',
    }),
    hostname: Nullable(Type.String({ description: 'Host name sent in EHLO.' })),
    sourcePools: Type.Array(Type.String(), {
      description: 'Source address pools available to sending domains.',
    }),
    smtpSubmission: Nullable(SmtpSubmissionView),
  }),
  async handle(call) {
    const { dependencies } = call;
    const {
      version,
      delivery,
      deliveryRedirect = null,
      deliveryAllow,
      hostname = null,
      direct,
    } = dependencies.facts;
    const submission = dependencies.smtpSubmission();
    const actor = actorOf(call);
    const seesDelivery =
      (await canOperate(dependencies, actor)) ||
      (await readAccountAccess(dependencies.database.kysely, actor)).some(({ granted }) =>
        granted.has('domains:read'),
      );
    return {
      version,
      publicUrl: dependencies.publicUrl(),
      delivery,
      deliveryRedirect: seesDelivery ? deliveryRedirect : null,
      deliveryAllow: seesDelivery ? deliveryAllow : [],
      systemMail: dependencies.systemMailEnabled,
      hostname: seesDelivery ? hostname : null,
      sourcePools: seesDelivery ? poolsOf(direct.sources) : [],
      smtpSubmission: submission === undefined ? null : viewSubmission(submission),
    };
  },
});

function viewSubmission({ host, port, tlsPort }: SubmissionEndpoint) {
  return { host, port: port ?? null, tlsPort: tlsPort ?? null };
}

const OperatorView = NamedObject('Operator', { email: Type.String(), name: Type.String() });

function operatorOf({ params: { email } }: OperationCall) {
  return {
    kind: 'operator',
    unrecorded: ['name'] as const,
    id: email,
    async read(transaction: DatabaseTransaction) {
      const [found] = await readPeople(transaction, { email, operator: true });
      return found && { email: found.email, name: found.name };
    },
  };
}

function writeOperator(
  { params: { email }, dependencies: { access } }: OperationCall,
  operator: boolean,
) {
  return async (transaction: DatabaseTransaction) => {
    const person = await findPersonByEmail(transaction, email);
    if (person === undefined) throw notFound('person');
    const refusal = await changeOperator(transaction, access.facts, person.id, operator);
    if (refusal !== undefined) throw new Problem('conflict', refusal);
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
    ok: Type.Boolean({ description: 'False if a backup that is set up fails or is late.' }),
    finding: Type.String({ description: 'Where to, how old, and what is wrong.' }),
    advice: Nullable(Type.String({ description: 'What to do about it.' })),
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
  host: Type.String({ description: 'Name of its machine or container.' }),
  pid: Type.Integer({ description: 'Its process ID there.' }),
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
  inFlight: Type.Integer({
    description:
      'Messages that it’s sending. Those of a vanished process go to others once their leases expire.',
  }),
  delayMs: Nullable(
    Type.Integer({
      description:
        'How late its timers run, in milliseconds; more than a few dozen means that it’s overloaded. Null once it vanished.',
    }),
  ),
});

export const listServiceProcesses = defineOperation({
  id: 'listProcesses',
  summary: 'List the running processes of the service',
  description: 'Each reports every five seconds.',
  answer: pageOf(ProcessView),
  async handle(call) {
    const processes = await listProcesses(call.dependencies.database.kysely);
    return {
      items: processes.map((process) => ({
        ...process,
        roles: [...process.roles],
        delayMs: process.state === 'vanished' ? null : process.delayMs,
      })),
      nextCursor: null,
    };
  },
});
