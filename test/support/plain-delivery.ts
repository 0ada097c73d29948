import type { DeliveryDependencies } from '../../src/sending/delivery/deliver-message.ts';
import { AttachmentLoader } from '../../src/sending/delivery/load-attachments.ts';

/** Delivery of mail as it was accepted: unsigned, without decoration or attachments. */
export const plainDelivery: Pick<
  DeliveryDependencies,
  'decorate' | 'deferBacklog' | 'findIdentity' | 'checkDue' | 'attachments'
> = {
  decorate: () => ({}),
  deferBacklog: () => undefined,
  findIdentity: async (_accountId, from) => ({ sign: (raw) => raw, returnPath: () => from }),
  checkDue: async ({ templateVersion }, content) => ({ templateVersion, content }),
  attachments: new AttachmentLoader({ read: async () => undefined }),
};
