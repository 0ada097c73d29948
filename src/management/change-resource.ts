import { personOf } from '../access/principal.ts';
import { type AuditEvent, AuditStore } from '../audit/audit-store.ts';
import type { DatabaseTransaction } from '../foundation/database/open-database.ts';
import { isRetryable, isUniqueViolation } from '../foundation/database/sqlstate.ts';
import { lockAccount, lockInstallation } from '../manifest/apply-lock-store.ts';
import { requirePreconditions } from './answer/entity-tag.ts';
import { notFound } from './answer/problem.ts';
import type { OperationCall } from './operation.ts';

/** How one thing is read and changed, in the transaction of the change. */
export interface ResourceChange<View> {
  /** What the audit log calls it, such as `sender`; the event is then `sender_changed`. */
  readonly kind: string;
  readonly id: string;
  /** What people see of it now; undefined where it is not there. */
  read(transaction: DatabaseTransaction): Promise<View | undefined>;
  write(transaction: DatabaseTransaction, before: View | undefined): Promise<void>;
}

/**
 * A thing as people see it.
 * @param transaction where it is read for a change
 * @throws Problem where it is not there
 */
export async function requireResource<View>(
  call: OperationCall,
  { kind, read }: Pick<ResourceChange<View>, 'kind' | 'read'>,
  transaction: DatabaseTransaction = call.dependencies.database.kysely,
): Promise<View> {
  const found = await read(transaction);
  if (found === undefined) throw notFound(kind.replaceAll('_', ' '));
  return found;
}

const maxAttempts = 5;

/**
 * Creates or changes a thing: preconditions, change and audit event are one commit. Changes of an account's settings follow one
 * another, also those of a manifest, so none is lost. The same request again changes nothing and is answered alike.
 * @returns what there is now; the status is 201 where it was made
 */
export async function saveResource<View>(
  call: OperationCall,
  change: ResourceChange<View>,
): Promise<View> {
  const { before, after } = await inTransaction(call, async (transaction) => {
    const before = await change.read(transaction);
    requirePreconditions(call.request, before);
    await change.write(transaction, before);
    const after = await change.read(transaction);
    if (after === undefined) throw new Error(`a ${change.kind} is not there after it was written`);
    const same = before !== undefined && JSON.stringify(before) === JSON.stringify(after);
    if (!same) {
      const verb = before === undefined ? 'created' : 'changed';
      await recordAudit(
        call,
        transaction,
        `${change.kind}_${verb}`,
        change.id,
        changedMembers(before, after),
      );
    }
    return { before, after };
  });
  if (before === undefined) call.reply.code(201);
  return after;
}

/** Which members changed, by name alone: what they hold may be personal. */
function changedMembers(before: unknown, after: unknown): NonNullable<AuditEvent['detail']> {
  if (typeof before !== 'object' || before === null) return {};
  const now = after as Readonly<Record<string, unknown>>;
  const names = Object.entries(before)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(now[name]))
    .map(([name]) => name);
  return { changed: names.join(', ') };
}

/**
 * Removes a thing under its preconditions.
 * @throws Problem where it is not there
 */
export async function removeResource<View>(
  call: OperationCall,
  change: ResourceChange<View>,
): Promise<undefined> {
  await inTransaction(call, async (transaction) => {
    const before = await requireResource(call, change, transaction);
    requirePreconditions(call.request, before);
    await change.write(transaction, before);
    await recordAudit(call, transaction, `${change.kind}_removed`, change.id);
  });
  return undefined;
}

/**
 * Runs a change in a transaction that no other change of the account's settings overlaps, and no change of the installation's
 * where the path names no account. Changes of other accounts go on beside it. It must be short: what takes long, such as
 * compiling, is done before. Once it resolves, this process works by the
 * change: who asks for what follows from it, such as a test of the template just published, gets that.
 * @throws Busy where too many changes of the account wait
 */
export async function inTransaction<Result>(
  call: OperationCall,
  work: (transaction: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  const { changes, changeSlots } = call.dependencies;
  // Waiting takes no connection.
  const result = await changeSlots.run(call.account?.id ?? '', () => runLocked(call, work));
  await changes.catchUp();
  return result;
}

async function runLocked<Result>(
  { account, dependencies: parts }: OperationCall,
  work: (transaction: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await parts.database.kysely.transaction().execute(async (transaction) => {
        if (account === undefined) await lockInstallation(transaction);
        else await lockAccount(transaction, account.id);
        return work(transaction);
      });
    } catch (error) {
      // What another account made meanwhile, such as the same person, is there when the next attempt looks.
      const again = isRetryable(error) || isUniqueViolation(error);
      if (!again || attempt >= maxAttempts) throw error;
    }
  }
}

/** Writes into the audit log who did what to which thing, within the transaction that does it. */
export async function recordAudit(
  call: OperationCall,
  transaction: DatabaseTransaction,
  kind: string,
  id: string,
  detail: NonNullable<AuditEvent['detail']> = {},
  outcome: AuditEvent['outcome'] = 'success',
): Promise<void> {
  const { actor, account, request } = call;
  const byKey: AuditEvent['detail'] = actor?.kind === 'key' ? { apiKey: actor.keyId } : {};
  await new AuditStore({ kysely: transaction }).record({
    kind,
    outcome,
    personId: actor && personOf(actor),
    clientId: undefined,
    accountId: account?.id ?? call.params.accountId,
    origin: { remoteAddress: request.ip, requestId: request.id },
    detail: { id, ...byKey, ...detail },
  });
}
