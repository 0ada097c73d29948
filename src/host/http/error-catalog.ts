import { Type } from 'typebox';
import { OpenObject, Text } from '../../base/values/common-schemas.ts';
import type { FaultCode } from '../../base/values/errors.ts';

interface CatalogEntry {
  readonly status: number;
  readonly message: string;
}

/** Status and exact public message of every fault: section 7 of the contract, and our additions. */
export const errorCatalog: Readonly<Record<FaultCode, CatalogEntry>> = {
  SENDER_NOT_ALLOWED: { status: 400, message: 'Sender Not Allowed' },
  INVALID_ID: { status: 400, message: 'Invalid ID in request. accountId or templateId is invalid' },
  VALIDATION_FAILED: { status: 400, message: 'Validation Failed for emailDetails object' },
  PERSONALIZATION_FAILURE: {
    status: 400,
    message: 'Personalization Failure Exception. personalization fields were missed',
  },
  RECIPIENT_SUPPRESSED: { status: 400, message: 'Recipient email has been suppressed' },
  ACCOUNT_SUSPENDED: { status: 401, message: 'Account Temporarily Suspended' },
  UNAUTHORIZED: { status: 401, message: 'Unauthorized Request' },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: 'A request with this Idempotency-Key is still in progress',
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    message: 'This Idempotency-Key was used with another request',
  },
  QUOTA_EXCEEDED: { status: 429, message: 'Quota Exceeded' },
  IO_EXCEPTION: { status: 503, message: 'IO Exception was encountered' },
  INTERNAL_ERROR: { status: 500, message: 'Internal Server Error' },
};

/** An error of the contract's send and message operations. */
export const FaultSchema = OpenObject('Fault', {
  success: Type.Literal(false),
  status: Type.Integer(),
  errorName: Type.Enum(Object.keys(errorCatalog)),
  message: Text('The exact text of the contract.'),
  details: Type.Array(Type.Object({ field: Type.String(), reason: Type.String() })),
  suppressedRecipients: Type.Optional(Type.Array(Type.String())),
  statusUrl: Type.Optional(Type.String()),
  requestId: Type.String(),
});
