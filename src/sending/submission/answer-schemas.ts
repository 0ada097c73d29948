import { Type } from 'typebox';
import { OpenObject, Text } from '../../base/values/common-schemas.ts';
import { FaultSchema } from '../../host/http/error-catalog.ts';
import { maxBatchMessages } from '../../host/http/limits/route-limits.ts';

/** The response of the send operation. */
export const AcceptedSchema = OpenObject('Accepted', {
  success: Type.Literal(true),
  message: Type.Literal('Successfully Accepted'),
  messageId: Type.String({ format: 'uuid' }),
  suppressedRecipients: Type.Array(Type.String(), {
    description: 'Cc addresses skipped because they are suppressed.',
  }),
  statusUrl: Type.Optional(Text('If `statusToken` asks for it.')),
});

const AcceptedMessageSchema = OpenObject('AcceptedMessage', {
  status: Type.Literal(200),
  ...AcceptedSchema.properties,
});

/** The response of a batch. */
export const BatchResultsSchema = OpenObject('BatchResults', {
  results: Type.Array(Type.Union([AcceptedMessageSchema, FaultSchema]), {
    maxItems: maxBatchMessages,
    description: 'One for each message, in order.',
  }),
});
