import { Type } from 'typebox';
import { readQuotaUsage } from '../../account/quota-usage-store.ts';
import { Nullable, strict, Uuid } from '../../foundation/common-schemas.ts';
import { readReport } from '../../report/read-report-store.ts';
import { accountOf, defineOperation } from '../operation.ts';
import { readAttentionFacts, readThrottledReceivers } from './attention-store.ts';
import { findAttention } from './find-attention.ts';

const dayMs = 86_400_000;

export const getAttention = defineOperation({
  id: 'getAttention',
  summary: 'List items that need attention',
  answer: Type.Object(
    {
      items: Type.Array(
        Type.Object(
          {
            kind: Type.String({ description: 'Stable identifier.' }),
            severity: Type.Enum(['error', 'warning', 'info']),
            subject: Nullable(Type.String({ description: 'The affected domain, address or URL.' })),
            webhookId: Nullable(Uuid),
            sentence: Type.String(),
            nextStep: Type.String(),
          },
          { ...strict, title: 'Attention' },
        ),
      ),
    },
    { ...strict, title: 'AttentionList' },
  ),
  async handle(call) {
    const account = accountOf(call);
    const { kysely } = call.dependencies.database;
    const now = call.dependencies.clock.now();
    const [facts, throttled, [month], use] = await Promise.all([
      readAttentionFacts(kysely, account.id),
      readThrottledReceivers(kysely, account.id),
      readReport(kysely, account.id, {
        from: new Date(now - 30 * dayMs),
        until: new Date(now + dayMs),
        group: 'none',
        timeZone: 'UTC',
      }),
      account.quota && readQuotaUsage(kysely, account.id),
    ]);
    return { items: findAttention({ account, facts, throttled, month: month?.counts, use }) };
  },
});
