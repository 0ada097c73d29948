/** Report columns in order. Deliveries and later outcomes count recipients; opens and clicks count messages. */
export const reportColumns = [
  'accepted',
  'delivered',
  'bounced_hard',
  'bounced_soft',
  'deferred',
  'expired',
  'failed',
  'uncertain',
  'canceled',
  'complained',
  'unsubscribed',
  'opened_people',
  'opened_people_unique',
  'opened_machines',
  'opened_machines_unique',
  'clicked_people',
  'clicked_people_unique',
  'clicked_machines',
  'clicked_machines_unique',
] as const;

export type ReportColumn = (typeof reportColumns)[number];

export type ReportColumnCounts = Readonly<Record<ReportColumn, number>>;
