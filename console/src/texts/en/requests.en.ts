/** Requests that failed. */
export const requestTexts = {
  'requests.hint':
    'Requests with a valid key that got an error, for 30 days. A request that was accepted is under Messages.',
  'requests.request': 'Request',
  'requests.caller': 'Key or app',
  'requests.at': 'At',
  'requests.copyCurl': 'Copy as curl',
  'requests.id': 'Request ID',
  'requests.only': 'Only {what}',
  'requests.all': 'Show all',
  'requests.none': 'No failed requests',
  'requests.noneHint':
    'What the API refuses to a key of this account is listed here with the reason, about a second later.',
} as const;
