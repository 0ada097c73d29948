import { Type } from 'typebox';
import { strict } from '../../foundation/common-schemas.ts';
import { accountOf, defineOperation } from '../operation.ts';
import { readSendReadiness } from './send-readiness-store.ts';

export const getSendReadiness = defineOperation({
  id: 'getSendReadiness',
  summary: 'Get the steps to a first message that are done',
  answer: Type.Object(
    {
      sender: Type.Boolean({ description: 'There is a verified sender.' }),
      template: Type.Boolean({
        description: 'There is a published template whose sender is verified.',
      }),
      key: Type.Boolean({
        description:
          'There is an API key that can send, or an OAuth app with which a user can get a token that can.',
      }),
      message: Type.Boolean({
        description: 'A message from a program was accepted; test messages don’t count.',
      }),
    },
    { ...strict, title: 'SendReadiness' },
  ),
  handle: (call) => readSendReadiness(call.dependencies.database.kysely, accountOf(call).id),
});
