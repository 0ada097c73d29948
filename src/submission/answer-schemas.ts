import { Type } from 'typebox';

/** The response of the send operation. */
export const AcceptedSchema = Type.Object(
  {
    success: Type.Literal(true),
    message: Type.Literal('Successfully Accepted'),
    messageId: Type.String({ format: 'uuid' }),
    suppressedRecipients: Type.Array(Type.String(), {
      description: 'Cc addresses skipped because they are suppressed.',
    }),
  },
  { title: 'Accepted' },
);
