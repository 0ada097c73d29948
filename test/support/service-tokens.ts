/** What services of tests are started with, for programs that read the inbox and the metrics. */
export const serviceTokens = {
  INBOX_TOKEN: 'inbox-token-of-the-tests',
  METRICS_TOKEN: 'metrics-token-of-the-tests',
};

/** Lets a test read the inbox. */
export const inboxHeaders = { authorization: `Bearer ${serviceTokens.INBOX_TOKEN}` };

/** Lets a test read the metrics. */
export const metricsHeaders = { authorization: `Bearer ${serviceTokens.METRICS_TOKEN}` };
