import type { TemplateId } from '../../foundation/ids.ts';
import { defineOperation } from '../operation.ts';
import { sendImage } from '../template/get-template-image-routes.ts';
import { requireMessage } from './manage-messages-routes.ts';

export const getMessageImage = defineOperation({
  id: 'getMessageImage',
  summary: 'Download an image of a message’s template',
  description:
    'An image of the template version that the message was sent with, also if the template was deleted.',
  produces: 'application/octet-stream',
  async handle(call) {
    const { template_id: templateId, template_version: version } = (await requireMessage(call))
      .message;
    return sendImage(call, templateId as TemplateId, version);
  },
});
