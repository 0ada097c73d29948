import type { AuditEvent } from '../audit/audit-store.ts';
import { type Actor, recordChange } from '../change/actor.ts';
import {
  changeResource,
  dropResource,
  type Resource,
  type ResourceChange,
  ResourceNotFound,
  runChange,
} from '../change/change-resource.ts';
import type { DatabaseTransaction } from '../foundation/database/open-database.ts';
import { requirePreconditions } from './answer/entity-tag.ts';
import type { OperationCall } from './operation.ts';
import { requireUnchanged } from './read-only-members.ts';

/** The caller, for the audit log. */
export function callerOf({ actor, account, params, request }: OperationCall): Actor {
  return {
    principal: actor,
    origin: { remoteAddress: request.ip, requestId: request.id },
    accountId: account?.id ?? params.accountId,
  };
}

/**
 * Reads a resource as its view.
 * @param transaction the transaction of a change
 * @throws ResourceNotFound if it doesn't exist
 */
export async function requireResource<View>(
  call: OperationCall,
  { kind, read }: Pick<Resource<View>, 'kind' | 'read'>,
  transaction: DatabaseTransaction = call.dependencies.database.kysely,
): Promise<View> {
  const found = await read(transaction);
  if (found === undefined) throw new ResourceNotFound(kind);
  return found;
}

/**
 * Creates or updates a resource if the preconditions of the request hold.
 * @returns the new state; the response for a created resource is 201
 */
export async function saveResource<View extends object>(
  call: OperationCall,
  change: ResourceChange<View>,
  actor = callerOf(call),
): Promise<View> {
  const { after, created } = await changeResource(call.dependencies, actor, {
    ...change,
    precondition: (before) => {
      requirePreconditions(call.request, before);
      requireUnchanged(call.readOnly, before);
    },
  });
  if (created) call.reply.code(201);
  return after;
}

/**
 * Deletes a resource if the preconditions of the request hold.
 * @throws ResourceNotFound if it doesn't exist
 */
export async function removeResource<View extends object>(
  call: OperationCall,
  change: ResourceChange<View>,
): Promise<undefined> {
  await dropResource(call.dependencies, callerOf(call), {
    ...change,
    precondition: (before) => requirePreconditions(call.request, before),
  });
  return undefined;
}

/** Runs a change under the lock of the account in the path, or of the installation if the path has no account. */
export function inTransaction<Result>(
  call: OperationCall,
  work: (transaction: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  return runChange(call.dependencies, callerOf(call).accountId, work);
}

/** Records a change and its actor in the audit log, within the transaction of the change. */
export function recordAudit(
  call: OperationCall,
  transaction: DatabaseTransaction,
  kind: string,
  id: string,
  detail?: AuditEvent['detail'],
  outcome?: AuditEvent['outcome'],
): Promise<void> {
  return recordChange(transaction, callerOf(call), kind, id, detail, outcome);
}
