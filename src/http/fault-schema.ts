import { Type } from 'typebox';
import { errorCatalog } from './error-catalog.ts';

/** An error of the contract's send and message operations. */
export const FaultSchema = Type.Object(
  {
    success: Type.Literal(false),
    status: Type.Integer(),
    errorName: Type.Enum(Object.keys(errorCatalog)),
    message: Type.String({ description: 'The exact text of the contract.' }),
    details: Type.Array(Type.Object({ field: Type.String(), reason: Type.String() })),
    suppressedRecipients: Type.Optional(Type.Array(Type.String())),
    requestId: Type.String(),
  },
  { title: 'Fault' },
);
