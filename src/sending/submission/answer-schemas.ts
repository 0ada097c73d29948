import { Type } from 'typebox';
import { Text } from '../../base/values/common-schemas.ts';
import { FaultSchema } from '../../host/http/error-catalog.ts';
import { maxBatchMessages } from '../../host/http/limits/route-limits.ts';

/** The response of the send operation. */
export const AcceptedSchema = Type.Object(
  {
    success: Type.Literal(true),
    message: Type.Literal('Successfully Accepted'),
    messageId: Type.String({ format: 'uuid' }),
    suppressedRecipients: Type.Array(Type.String(), {
      description: 'Cc addresses skipped because they are suppressed.',
    }),
    statusUrl: Type.Optional(Text('If `statusToken` asks for it.')),
  },
  { title: 'Accepted' },
);

const AcceptedMessageSchema = Type.Object(
  { status: Type.Literal(200), ...AcceptedSchema.properties },
  { title: 'AcceptedMessage' },
);

/** The response of a batch. */
export const BatchResultsSchema = Type.Object(
  {
    results: Type.Array(Type.Union([AcceptedMessageSchema, FaultSchema]), {
      maxItems: maxBatchMessages,
      description: 'One for each message, in order.',
    }),
  },
  { title: 'BatchResults' },
);
