/** Tokens of the test services for the inbox and the metrics. */
export const serviceTokens = {
  INBOX_TOKEN: 'inbox-token-of-the-tests',
  METRICS_TOKEN: 'metrics-token-of-the-tests',
};

/** Header that grants access to the inbox. */
export const inboxHeaders = { authorization: `Bearer ${serviceTokens.INBOX_TOKEN}` };

/** Header that grants access to the metrics. */
export const metricsHeaders = { authorization: `Bearer ${serviceTokens.METRICS_TOKEN}` };
