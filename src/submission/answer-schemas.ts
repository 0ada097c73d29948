import { Type } from 'typebox';
import { Nullable, Time, Uuid } from '../foundation/common-schemas.ts';

/** Response of the send operation. */
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

/** A recipient and its delivery state. */
export const statusRecipient = {
  address: Nullable(Type.String()),
  role: Type.String(),
  state: Type.String(),
  at: Time('When it was suppressed.'),
};

/** A message's delivery state. */
export const messageStatus = {
  messageId: Uuid,
  templateId: Type.String(),
  templateVersion: Type.Integer(),
  state: Type.String(),
  stateAt: Time('When the state last changed.'),
  acceptedAt: Time('When it was accepted.'),
  transactional: Type.Boolean(),
  externalId: Nullable(Type.String()),
  tag: Nullable(Type.String()),
  trackOpens: Type.Boolean(),
  trackClicks: Type.Boolean(),
  deliveryWhenDelayed: Type.String(),
  recipients: Type.Array(Type.Object(statusRecipient)),
  suppressedRecipients: Type.Array(Type.String()),
  nextAttempt: Nullable(
    Type.Object({
      at: Nullable(Time('When.')),
      reason: Type.String({ description: 'Why it is waiting.' }),
    }),
  ),
  events: Type.Array(
    Type.Object({
      at: Time('When it happened.'),
      kind: Type.String(),
      recipient: Nullable(
        Type.Integer({ description: '0: To; 1 and up: Cc; null: the whole message.' }),
      ),
      detail: Type.Unknown(),
    }),
  ),
};

export const MessageStatusSchema = Type.Object(
  { success: Type.Literal(true), ...messageStatus },
  { title: 'MessageStatus' },
);
